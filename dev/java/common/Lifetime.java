import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/** Keeps the process alive until it is told to end, then closes the node. */
final class Lifetime {

    private Lifetime() {}

    static void of(Closeable node) throws InterruptedException {
        CountDownLatch closed = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node, closed)));
        // The threads of a node are daemons; this one holds the process.
        closed.await();
    }

    private static void close(Closeable node, CountDownLatch closed) {
        try {
            node.close();
        } catch (IOException e) {
            e.printStackTrace();
        } finally {
            closed.countDown();
        }
    }
}
