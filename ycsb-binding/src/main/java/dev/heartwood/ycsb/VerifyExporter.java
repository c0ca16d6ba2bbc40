package dev.heartwood.ycsb;

import java.io.IOException;
import java.io.OutputStream;
import site.ycsb.measurements.exporter.MeasurementsExporter;
import site.ycsb.measurements.exporter.TextMeasurementsExporter;

/**
 * Hands what YCSB's client has measured on to the exporter that would have it otherwise, and counts reads that its workload says were
 * not right, which nobody else is told. The client makes it, by its name.
 */
public final class VerifyExporter implements MeasurementsExporter {
    /** The client's property for the class of its exporter. */
    static final String PROPERTY = "exporter";

    private static final String VERIFY = "VERIFY";
    private static final String STATUS = "Return=";
    private static final String RIGHT = STATUS + "OK";

    /** The class of the one that it hands on to. */
    private static volatile String next = TextMeasurementsExporter.class.getName();

    private final MeasurementsExporter to;

    /** As the client's exporters are made. */
    public VerifyExporter(OutputStream out) throws ReflectiveOperationException {
        to = (MeasurementsExporter) Class.forName(next).getConstructor(OutputStream.class).newInstance(out);
    }

    /**
     * Has those made from now on hand on to exporters of this class.
     *
     * @throws IllegalArgumentException when there is no such class
     */
    static void handOnTo(String exporter) {
        try {
            Class.forName(exporter).asSubclass(MeasurementsExporter.class).getConstructor(OutputStream.class);
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            throw new IllegalArgumentException("there is no exporter '" + exporter + "'", e);
        }
        next = exporter;
    }

    @Override
    public void write(String metric, String measurement, int value) throws IOException {
        if (metric.equals(VERIFY) && measurement.startsWith(STATUS) && !measurement.equals(RIGHT)) {
            Failures.ofWrongReads(value);
        }
        to.write(metric, measurement, value);
    }

    @Override
    public void write(String metric, String measurement, long value) throws IOException {
        to.write(metric, measurement, value);
    }

    @Override
    public void write(String metric, String measurement, double value) throws IOException {
        to.write(metric, measurement, value);
    }

    @Override
    public void close() throws IOException {
        to.close();
    }
}
