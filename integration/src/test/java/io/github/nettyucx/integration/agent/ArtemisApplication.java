// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Apache ActiveMQ Artemis: {@code broker PORT DIRECTORY}, {@code produce PORT MESSAGES LARGE} or {@code consume PORT MESSAGES
 * LARGE}, with JMS. A producer sends MESSAGES that are kept on disk, as many that are not, and one of LARGE bytes; a consumer
 * tells a digest of what came. Knows nothing of the agent.
 */
public final class ArtemisApplication {

    private static final int BYTES = 1_000;
    private static final long MILLIS = TimeUnit.SECONDS.toMillis(60);
    private static final String KEPT = "kept";
    private static final String PASSING = "passing";
    private static final String LARGE = "large";
    private static final String NUMBER = "number";

    private ArtemisApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[1]);
        if (arguments[0].equals("broker")) {
            serve(port, arguments[2]);
            return;
        }
        int messages = Integer.parseInt(arguments[2]);
        int large = Integer.parseInt(arguments[3]);
        try (ActiveMQConnectionFactory factory = new ActiveMQConnectionFactory("tcp://127.0.0.1:" + port);
                Connection connection = factory.createConnection();
                Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
            connection.start();
            if (arguments[0].equals("produce")) {
                produce(session, KEPT, DeliveryMode.PERSISTENT, messages);
                produce(session, PASSING, DeliveryMode.NON_PERSISTENT, messages);
                produceLarge(session, large);
            } else {
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                consume(session, KEPT, messages, digest);
                consume(session, PASSING, messages, digest);
                consumeLarge(session, digest);
                System.out.println("digest " + HexFormat.of().formatHex(digest.digest()));
            }
        }
        System.out.println("client done");
    }

    private static void serve(int port, String directory) throws Exception {
        Configuration configuration = new ConfigurationImpl().setPersistenceEnabled(true).setSecurityEnabled(false)
                .setJournalType(JournalType.NIO).setJournalDirectory(directory + "/journal")
                .setBindingsDirectory(directory + "/bindings").setLargeMessagesDirectory(directory + "/large")
                .setPagingDirectory(directory + "/paging").setNodeManagerLockDirectory(directory + "/lock")
                .addAcceptorConfiguration("netty", "tcp://127.0.0.1:" + port);
        EmbeddedActiveMQ broker = new EmbeddedActiveMQ().setConfiguration(configuration);
        broker.start();
        System.out.println("serving");
        System.in.read();
        broker.stop();
        System.out.println("broker done");
    }

    private static void tellRate(String what, String queue, int messages, long start) {
        System.out.println(what + ' ' + queue + ' ' + messages * TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - start));
    }

    // ------------------------------------------------------------------------------------------- producer

    private static void produce(Session session, String queue, int mode, int messages) throws JMSException {
        try (MessageProducer producer = session.createProducer(session.createQueue(queue))) {
            producer.setDeliveryMode(mode);
            byte[] bytes = new byte[BYTES];
            Random random = new Random(mode);
            long start = System.nanoTime();
            for (int number = 0; number < messages; number++) {
                random.nextBytes(bytes);
                BytesMessage message = session.createBytesMessage();
                message.setIntProperty(NUMBER, number);
                message.writeBytes(bytes);
                producer.send(message);
            }
            tellRate("sent", queue, messages, start);
        }
    }

    /** Streamed: neither side has all of it in its memory. */
    private static void produceLarge(Session session, int bytes) throws JMSException {
        try (MessageProducer producer = session.createProducer(session.createQueue(LARGE))) {
            BytesMessage message = session.createBytesMessage();
            message.setObjectProperty("JMS_AMQ_InputStream", new RandomStream(bytes));
            long start = System.nanoTime();
            producer.send(message);
            tellRate("sent", LARGE, bytes / 1_000_000, start);
        }
    }

    /** Random bytes, again and again. */
    private static final class RandomStream extends InputStream {

        /** A prime, so that no buffer has a length of which this is a multiple. */
        private static final int BLOCK = 1_000_003;

        private final byte[] block = new byte[BLOCK];
        private final int length;
        private int position;

        private RandomStream(int length) {
            this.length = length;
            new Random(length).nextBytes(block);
        }

        @Override
        public int read() {
            return position == length ? -1 : Byte.toUnsignedInt(block[position++ % BLOCK]);
        }

        @Override
        public int read(byte[] into, int offset, int most) {
            if (position == length) {
                return -1;
            }
            int from = position % BLOCK;
            int count = Math.min(Math.min(most, length - position), BLOCK - from);
            System.arraycopy(block, from, into, offset, count);
            position += count;
            return count;
        }
    }

    // ------------------------------------------------------------------------------------------- consumer

    private static <T extends Message> T receive(MessageConsumer consumer, Class<T> type) throws JMSException {
        Message message = consumer.receive(MILLIS);
        if (message == null) {
            throw new IllegalStateException("no message for " + MILLIS + " ms");
        }
        return type.cast(message);
    }

    private static void consume(Session session, String queue, int messages, MessageDigest digest) throws JMSException {
        try (MessageConsumer consumer = session.createConsumer(session.createQueue(queue))) {
            BytesMessage message = receive(consumer, BytesMessage.class);
            long start = System.nanoTime();
            for (int number = 0; number < messages; number++) {
                if (number > 0) {
                    message = receive(consumer, BytesMessage.class);
                }
                if (message.getIntProperty(NUMBER) != number) {
                    throw new IllegalStateException(message.getIntProperty(NUMBER) + " came in the place of " + number);
                }
                byte[] bytes = new byte[Math.toIntExact(message.getBodyLength())];
                message.readBytes(bytes);
                digest.update(bytes);
            }
            tellRate("received", queue, messages, start);
        }
    }

    private static void consumeLarge(Session session, MessageDigest digest) throws JMSException, IOException {
        try (MessageConsumer consumer = session.createConsumer(session.createQueue(LARGE));
                DigestOutputStream into = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
            BytesMessage message = receive(consumer, BytesMessage.class);
            long start = System.nanoTime();
            int bytes = Math.toIntExact(message.getBodyLength());
            message.setObjectProperty("JMS_AMQ_SaveStream", into);
            tellRate("received", LARGE, bytes / 1_000_000, start);
        }
    }
}
