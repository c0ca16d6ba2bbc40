package dev.heartwood.engine.image;

import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.KeySample;
import dev.heartwood.engine.node.NodePlace;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.page.PageLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The stored image of a trunk node: its bundles with the descriptors of their branches and maplets, and its pivots with the
 * places of the children.
 */
public final class NodeCodec {
    /** The version of the image's layout; one of version 1 does not tell the node's policy. */
    public static final int VERSION = 2;

    private static final int VERSION_WITHOUT_POLICY = 1;

    /** In place of a policy's code where a node goes with its tree. */
    private static final int NO_POLICY = 0;

    private static final int RUNS_MAX = 64;

    /** No tree is near this; a higher one is not a tree. */
    private static final int HEIGHT_MAX = 64;

    private static final long PAGES_MAX = (long) Integer.MAX_VALUE << PageLayout.EXTENT_SHIFT;

    /** Makes runs and maplets out of their descriptors, each only once however many nodes share it. */
    public interface Objects {
        /** The run at a position among all runs of the node. */
        Run run(int position, long id, byte[] branchDescriptor, KeySample sample);

        Maplet maplet(long id, byte[] descriptor);

        TrunkNode child(NodePlace place, int height);

        /** A place that frees its pages when released; counted as in use. */
        NodePlace place(long[] pages, long generation);
    }

    private NodeCodec() {}

    public static byte[] encode(TrunkNode node) {
        ImageWriter image = new ImageWriter();
        image.putByte(VERSION).putVarint(node.height());
        image.putByte(node.ownPolicy() == null ? NO_POLICY : node.ownPolicy().code());
        image.putVarint(node.bundleCount());
        for (Bundle bundle : node.bundles()) {
            image.putLong(bundle.id()).putByte(bundle.settled() ? 1 : 0);
            image.putBytes(bundle.span().from()).putBytes(bundle.span().to());
            image.putLong(bundle.maplet().id()).putBytes(describe(bundle.maplet())).putVarint(bundle.runs().length);
            for (Run run : bundle.runs()) {
                image.putByte(run == null ? 0 : 1);
                if (run != null) {
                    image.putLong(run.branch().id()).putBytes(describe(run.branch()));
                    encodeSample(run.sample(), image);
                }
            }
        }
        image.putVarint(node.pivotCount());
        for (Pivot pivot : node.pivots()) {
            image.putBytes(pivot.key()).putVarint(pivot.firstActive());
            if (!node.isLeaf()) {
                encodePlace(pivot.child().place(), image);
            }
        }
        return image.toBytes();
    }

    private static byte[] describe(Branch branch) {
        ByteBuffer descriptor = ByteBuffer.allocate(branch.encodedBytes());
        branch.encode(descriptor);
        return descriptor.array();
    }

    private static byte[] describe(Maplet maplet) {
        ByteBuffer descriptor = ByteBuffer.allocate(maplet.encodedBytes());
        maplet.encode(descriptor);
        return descriptor.array();
    }

    private static void encodeSample(KeySample sample, ImageWriter image) {
        image.putBytes(sample.first()).putBytes(sample.last()).putVarint(sample.bytes());
        image.putVarint(sample.keys().size());
        for (int i = 0; i < sample.keys().size(); i++) {
            image.putBytes(sample.keys().get(i)).putVarint(sample.weight(i));
        }
    }

    public static void encodePlace(NodePlace place, ImageWriter image) {
        image.putLong(place.generation()).putVarint(place.pages().length);
        for (long page : place.pages()) {
            image.putVarint(page);
        }
    }

    /** The node an image describes, with everything below it, floating. */
    public static TrunkNode decode(byte[] bytes, int heightExpected, Objects objects) {
        ImageReader image = new ImageReader(bytes);
        int version = image.getByte();
        if (version != VERSION && version != VERSION_WITHOUT_POLICY) {
            throw new MalformedImageException("trunk node image of version " + version);
        }
        int height = image.getCount(HEIGHT_MAX);
        if (heightExpected >= 0 && height != heightExpected) {
            throw new MalformedImageException("trunk node of height " + height + " instead of " + heightExpected);
        }
        TrunkPolicies policy = version == VERSION_WITHOUT_POLICY ? null : decodePolicy(image.getByte());
        List<Bundle> bundles = new ArrayList<>();
        int runCount = 0;
        for (int b = image.getCount(); b > 0; b--) {
            Bundle bundle = decodeBundle(image, runCount, objects);
            runCount += bundle.runs().length;
            bundles.add(bundle);
        }
        int pivotCount = image.getCount();
        if (pivotCount == 0 || height == 0 && pivotCount != 1) {
            throw new MalformedImageException("trunk node of height " + height + " with " + pivotCount + " pivots");
        }
        List<Pivot> pivots = new ArrayList<>();
        byte[] previous = null;
        for (int p = 0; p < pivotCount; p++) {
            byte[] key = image.getPresentBytes();
            if (previous != null && Keys.compare(previous, key) >= 0) {
                throw new MalformedImageException("pivots out of order");
            }
            previous = key;
            int firstActive = image.getCount(runCount);
            TrunkNode child = height == 0 ? null : objects.child(decodePlace(image, objects), height - 1);
            pivots.add(new Pivot(key, child, firstActive));
        }
        return new TrunkNode(height, policy, pivots, bundles);
    }

    private static TrunkPolicies decodePolicy(int code) {
        if (code == NO_POLICY) {
            return null;
        }
        for (TrunkPolicies policy : TrunkPolicies.values()) {
            if (policy.code() == code) {
                return policy;
            }
        }
        throw new MalformedImageException("trunk node under policy " + code);
    }

    private static Bundle decodeBundle(ImageReader image, int firstPosition, Objects objects) {
        long id = image.getLong();
        boolean settled = image.getByte() != 0;
        byte[] from = image.getBytes();
        byte[] to = image.getBytes();
        Span span = from == null && to == null ? Span.ALL : new Span(from, to);
        Maplet maplet = objects.maplet(image.getLong(), image.getPresentBytes());
        Run[] runs = new Run[image.getCount(RUNS_MAX)];
        for (int i = 0; i < runs.length; i++) {
            if (image.getByte() != 0) {
                long branchId = image.getLong();
                byte[] descriptor = image.getPresentBytes();
                runs[i] = objects.run(firstPosition + i, branchId, descriptor, decodeSample(image));
            }
        }
        return new Bundle(id, maplet, runs, span, settled);
    }

    private static KeySample decodeSample(ImageReader image) {
        byte[] first = image.getPresentBytes();
        byte[] last = image.getPresentBytes();
        long bytes = image.getVarint();
        List<byte[]> keys = new ArrayList<>();
        long[] positions = new long[image.getCount()];
        long position = 0;
        for (int i = 0; i < positions.length; i++) {
            keys.add(image.getPresentBytes());
            position += image.getVarint();
            positions[i] = position;
        }
        if (bytes < 0 || position < 0 || position > bytes) {
            throw new MalformedImageException("sample of " + position + " bytes of a run of " + bytes);
        }
        return new KeySample(List.copyOf(keys), positions, first, last, bytes);
    }

    static NodePlace decodePlace(ImageReader image, Objects objects) {
        long generation = image.getLong();
        long[] pages = new long[image.getCount()];
        for (int i = 0; i < pages.length; i++) {
            pages[i] = image.getVarint();
        }
        requirePages(pages);
        return objects.place(pages, generation);
    }

    /** Refuses what cannot be the pages of a node. */
    public static void requirePages(long[] pages) {
        if (pages.length == 0) {
            throw new MalformedImageException("a trunk node without pages");
        }
        for (long page : pages) {
            if (page < 0 || page >= PAGES_MAX) {
                throw new MalformedImageException("a trunk node on page " + page);
            }
        }
    }
}
