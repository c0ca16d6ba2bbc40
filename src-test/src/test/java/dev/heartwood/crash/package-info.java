/** What survives: killed processes on real files, lost power and failing disks on simulated ones. */
package dev.heartwood.crash;
