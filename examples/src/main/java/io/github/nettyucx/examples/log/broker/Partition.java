// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.Message.Denied;
import io.github.nettyucx.examples.log.protocol.Message.Done;
import io.github.nettyucx.examples.log.protocol.Message.Granted;
import io.github.nettyucx.examples.log.protocol.Message.Located;
import io.github.nettyucx.examples.log.protocol.Message.Sealed;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.github.nettyucx.examples.log.protocol.SealReason;
import io.github.nettyucx.examples.log.protocol.SlotWord;
import io.github.nettyucx.examples.log.storage.EpochHistory;
import io.github.nettyucx.examples.log.storage.LogException;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.examples.log.storage.SegmentFile;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * One partition. Records come by message, or producers write them into the memory of the current segment. Either way they
 * are checked, written to the file, and only then acknowledged and readable. For the broker's event loop only.
 */
final class Partition implements Inbound.Commits {

    /** How records get in. */
    private enum Intake {
        /** By message. */
        MESSAGES,
        /** Some producers have access to memory. */
        MEMORY,
        /** Not at all: the files cannot be written. */
        FAILED
    }

    private final int number;
    private final PartitionLog log;
    private final EpochHistory epochs;
    private final BrokerSettings settings;
    private final EventExecutor loop;
    private final Slots slots;
    /** Whose memory a notification is about. */
    private final Map<UcxMemory, Partition> byMemory;
    private final Fetches fetches;
    private final ReadableMemory readable;
    private final CommitBuffer commits = new CommitBuffer();
    private final RetiredMemory retired = new RetiredMemory();
    private final Watermark watermark;
    private final Followers followers;
    private final Runnable scheduledFlush = this::scheduledFlush;
    private Intake intake = Intake.MESSAGES;
    /** {@code null} if records come by message only. */
    private Inbound inbound;
    private String failure;
    private int generation;
    private boolean flushing;
    private long committedRecords;
    private long committedBytes;

    Partition(int number, PartitionLog log, EpochHistory epochs, BrokerSettings settings, CommitRule rule,
              EventExecutor loop, Slots slots, Map<UcxMemory, Partition> byMemory) {
        this.number = number;
        this.log = log;
        this.epochs = epochs;
        this.settings = settings;
        this.loop = loop;
        this.slots = slots;
        this.byMemory = byMemory;
        // Whether enough followers have had what an earlier process has left nobody knows before they are there.
        watermark = new Watermark(settings.minFollowers() == 0 || settings.cluster() != null ? log.nextOffset() : log.firstOffset());
        fetches = new Fetches(log, watermark, loop);
        followers = new Followers(log, settings.segmentBytes(), rule, watermark, loop, this::committed);
        readable = new ReadableMemory(settings);
        showReadable(false);
    }

    private void showReadable(boolean sealed) {
        slots.set(number, SlotWord.of(generation, readableOf(log.active()), sealed));
    }

    /** The end of what is committed of a segment. */
    private int readableOf(SegmentFile segment) {
        return watermark.committedSize(segment);
    }

    long committedRecords() {
        return committedRecords;
    }

    long committedBytes() {
        return committedBytes;
    }

    // ------------------------------------------------------------------------------------------- by message

    /** @param records taken over */
    void produce(Peer peer, int request, ByteBuf records) {
        var length = records.readableBytes();
        var capacity = log.active().capacity();
        if (length > Math.min(capacity, Records.MAX_LENGTH)) {
            records.release();
            peer.fail(request, ErrorCode.TOO_LARGE, "the records have " + length + " bytes (expected: at most "
                    + Math.min(capacity, Records.MAX_LENGTH) + ")");
            return;
        }
        // Before a place is reserved for it: a damaged record leaves nothing behind.
        var bytes = records.nioBuffer();
        var count = Records.count(bytes, bytes.position(), bytes.limit());
        if (count == 0) {
            records.release();
            peer.fail(request, ErrorCode.DAMAGED, Records.fault(bytes, bytes.position(), bytes.limit()));
            return;
        }
        var sent = new Inbound.Sent(peer, request, records, count);
        switch (intake) {
            case MESSAGES -> append(sent);
            case MEMORY -> inbound.sent(sent);
            case FAILED -> refuse(sent);
        }
    }

    private void append(Inbound.Sent sent) {
        if (sent.records().readableBytes() > room()) {
            end(SealReason.FULL);
            if (intake == Intake.FAILED) {
                refuse(sent);
                return;
            }
        }
        commit(sent);
        sent.records().release();
    }

    private void refuse(Inbound.Sent sent) {
        sent.records().release();
        sent.peer().fail(sent.request(), ErrorCode.STORAGE, failure);
    }

    /** Of all records of the segment, committed or about to be. */
    private int end() {
        return log.active().size() + commits.length();
    }

    /** How many bytes the segment has room for behind that. */
    private int room() {
        return log.room() - commits.length();
    }

    // ------------------------------------------------------------------------------------------- by memory

    void access(Peer peer, int request, AccessMode mode) {
        if (intake == Intake.MESSAGES && room() == 0) {
            end(SealReason.FULL);
        }
        if (intake == Intake.FAILED) {
            peer.fail(request, ErrorCode.STORAGE, failure);
        } else if (intake == Intake.MESSAGES) {
            grant(mode, List.of(peer), request, null);
        } else if (inbound.members().contains(peer)) {
            peer.fail(request, ErrorCode.BAD_REQUEST, "this connection has access to the partition already");
        } else if (mode == AccessMode.SHARED && inbound instanceof SharedInbound shared) {
            shared.add(peer);
            peer.send(granted(request));
        } else {
            peer.fail(request, ErrorCode.HELD, inbound.mode() == AccessMode.EXCLUSIVE
                    ? "another producer has the partition for itself: wait until it has left, or take another partition"
                    : inbound.members().size() + " producers share the partition: share it too, or wait until they have"
                            + " left");
        }
    }

    /** @param kept memory that an earlier segment had; {@code null}: it takes some more */
    private void grant(AccessMode mode, List<Peer> members, int request, UcxMemory kept) {
        try {
            inbound = newInbound(mode, members, kept);
        } catch (OutOfMemoryError e) {
            deny(members, request, e);
            return;
        }
        intake = Intake.MEMORY;
        byMemory.put(inbound.memory, this);
        var granted = granted(request);
        var ours = inbound;
        if (request != Message.UNASKED) {
            members.forEach(member -> member.send(granted));
        } else {
            // Behind what tells them of the end of the one before. Some may have left till then, and have come again.
            ours.tellLater();
            watermark.when(log.nextOffset(), () -> {
                if (ours == inbound) {
                    ours.tell(granted);
                }
            });
        }
    }

    private Inbound newInbound(AccessMode mode, List<Peer> members, UcxMemory kept) {
        var capacity = log.active().capacity();
        if (mode == AccessMode.EXCLUSIVE) {
            var memory = kept != null ? kept : settings.memory().allocate(capacity, UcxMemoryRight.WRITE);
            return new ExclusiveInbound(memory, capacity, end(), members.getFirst(), this);
        }
        var memory = kept != null ? kept : settings.memory().allocate(OrderWord.at(capacity) + Long.BYTES,
                UcxMemoryRight.WRITE, UcxMemoryRight.ATOMIC);
        var shared = new SharedInbound(memory, capacity, end(), loop, settings.reservation(), this);
        members.forEach(shared::add);
        return shared;
    }

    /** There is no memory for those who had some, or want it. Records come by message. */
    private void deny(List<Peer> members, int request, OutOfMemoryError e) {
        takeMessages();
        var text = noMemory(e, "Produce");
        if (request != Message.UNASKED) {
            members.forEach(member -> member.fail(request, ErrorCode.NO_MEMORY, text));
        } else {
            watermark.when(log.nextOffset(),
                    () -> members.forEach(member -> member.send(new Denied(number, ErrorCode.NO_MEMORY, text))));
        }
    }

    /** @param verb what can be done by message instead */
    private static String noMemory(OutOfMemoryError e, String verb) {
        return "the broker has no memory for the segment: " + Explanation.of(e) + ". " + verb + " by message, or try later.";
    }

    private void takeMessages() {
        retired.close();
        inbound = null;
        intake = Intake.MESSAGES;
    }

    private Granted granted(int request) {
        return new Granted(request, number, generation, inbound.mode(), inbound.position(), inbound.capacity,
                log.nextOffset(), inbound.memory.exportKey());
    }

    void written(Peer peer, UcxMemoryNotification put) {
        // Otherwise it is about a segment that had the memory before: its sender has been told that it is sealed.
        if (OrderWord.isOf(generation, put.value())) {
            inbound.written(peer, put);
        }
    }

    void full(Peer peer, Message.Full full) {
        if (full.generation() == generation && inbound != null && inbound.members().contains(peer)) {
            inbound.full(peer, full.turn(), full.position());
        }
    }

    void released(Peer peer, int ended) {
        retired.released(peer, ended);
    }

    void leave(Peer peer, int request) {
        if (inbound == null || !inbound.members().contains(peer)) {
            peer.fail(request, ErrorCode.BAD_REQUEST, "this connection has no access to the partition");
            return;
        }
        endAccess(peer);
        peer.send(new Done(request));
    }

    /** A connection has ended. */
    void gone(Peer peer) {
        fetches.forget(peer);
        endAccess(peer);
    }

    private void endAccess(Peer peer) {
        retired.gone(peer);
        if (inbound != null && inbound.members().contains(peer)) {
            inbound.remove(peer);
            if (inbound.members().isEmpty()) {
                end(SealReason.LEFT);
            }
        }
    }

    // ------------------------------------------------------------------------------------------- committing

    @Override
    public String commit(Peer peer, int request, UcxMemory memory, long position, long length) {
        if (length > Records.MAX_LENGTH || position + length > log.active().capacity()) {
            return "the record has " + length + " bytes at byte " + position + " (expected: at most " + Records.MAX_LENGTH
                    + ", and an end within " + log.active().capacity() + ")";
        }
        if (!hasRoom((int) length, peer, request)) {
            return null;
        }
        var fault = commits.take(memory.segment().asSlice(position, length), log.nextOffset(), peer, request);
        flushSoon();
        return fault;
    }

    @Override
    public void commit(Inbound.Sent sent) {
        if (hasRoom(sent.records().readableBytes(), sent.peer(), sent.request())) {
            commits.take(sent.records(), sent.count(), log.nextOffset(), sent.peer(), sent.request());
            flushSoon();
        }
    }

    /** Otherwise the producer has been told why. */
    private boolean hasRoom(int length, Peer peer, int request) {
        if (!commits.hasRoom(length)) {
            flush();
        }
        if (intake == Intake.FAILED) {
            peer.fail(request, ErrorCode.STORAGE, failure);
            return false;
        }
        return true;
    }

    /** All that comes in one turn of the event loop is written at once. */
    private void flushSoon() {
        if (!flushing) {
            flushing = true;
            loop.execute(scheduledFlush);
        }
    }

    private void scheduledFlush() {
        flushing = false;
        flush();
    }

    /** Writes what has been checked, and then has it seen and acknowledged. */
    private void flush() {
        if (commits.isEmpty() || intake == Intake.FAILED) {
            return;
        }
        var position = log.active().size();
        try {
            log.append(commits.records());
            committedRecords += commits.count();
            committedBytes += commits.length();
            readable.committed(position, commits.memory());
            followers.send(commits.records());
            watermark.written(log.nextOffset(), log.active(), log.active().size());
            watermark.when(log.nextOffset(), commits.written());
        } catch (IOException e) {
            fail(e);
            return;
        } catch (RuntimeException | Error e) {
            // It is not known what is in the file, and what of it has been told.
            fail(new IOException(Explanation.of(e), e));
            return;
        }
        followers.advance();
    }

    /** There is more to read: all that are in sync have it. */
    private void committed() {
        showReadable(false);
        fetches.committed();
    }

    Followers followers() {
        return followers;
    }

    private void fail(IOException e) {
        // First: whatever else fails, nothing is written any more.
        intake = Intake.FAILED;
        failure = "the broker cannot write to " + log.active().path() + ": " + Explanation.of(e)
                + ". What was acknowledged is there; restart the broker when the cause is gone.";
        commits.fail(failure);
        if (inbound != null) {
            byMemory.remove(inbound.memory);
            inbound.members().forEach(member -> member.send(new Denied(number, ErrorCode.STORAGE, failure)));
            inbound.end().forEach(this::refuse);
            inbound = null;
        }
        retired.close();
    }

    // ------------------------------------------------------------------------------------------- the end of a segment

    @Override
    public void end(Peer offender, int request, String fault) {
        flush();
        // What was committed is acknowledged first.
        watermark.when(log.nextOffset(), () -> {
            offender.fail(request, ErrorCode.DAMAGED, fault);
            offender.disconnect();
        });
        if (inbound != null) {
            inbound.remove(offender);
            end(SealReason.DAMAGED);
        }
    }

    @Override
    public void end(SealReason reason) {
        flush();
        var ended = inbound;
        if (intake == Intake.FAILED) {
            return;
        }
        try {
            showReadable(true);
            log.roll();
        } catch (IOException e) {
            fail(e);
            return;
        }
        List<Inbound.Sent> again = List.of();
        UcxMemory kept = null;
        if (ended != null) {
            byMemory.remove(ended.memory);
            var reusable = reason == SealReason.FULL && !ended.isAbandoned();
            again = reusable ? ended.stop() : ended.end();
            kept = reusable ? retired.exchange(ended, generation) : null;
            // Behind the last acknowledgement: what has none then will have none.
            var sealed = new Sealed(number, generation, reason);
            var members = List.copyOf(ended.members());
            watermark.when(log.nextOffset(), () -> members.forEach(member -> member.send(sealed)));
        }
        generation++;
        showReadable(false);
        readable.sealed();
        if (ended != null && !ended.members().isEmpty()) {
            grant(ended.mode(), List.copyOf(ended.members()), Message.UNASKED, kept);
        } else {
            takeMessages();
        }
        again.forEach(sent -> produce(sent.peer(), sent.request(), sent.records()));
    }

    // ------------------------------------------------------------------------------------------- among several brokers

    History history() {
        return new History(log.nextOffset(), epochs.entries());
    }

    /** The latest whose leader has written here, or could have. */
    long lastEpoch() {
        return epochs.lastEpoch();
    }

    /** From now on this broker leads. Nothing is committed before those that are in sync have all that there is. */
    void lead(long epoch) throws IOException {
        if (intake == Intake.FAILED) {
            // It could not take a record, and others can.
            throw new LogException(failure);
        }
        halt();
        epochs.begin(epoch, log.nextOffset());
        log.roll();
        generation++;
        watermark.restart(log.firstOffset(), log.nextOffset());
        showReadable(false);
    }

    /** Whether what was there when this broker began to lead is committed. */
    boolean isCommitted() {
        return watermark.committed() == watermark.toldOf();
    }

    /** From now on somebody else does. What was not committed never is acknowledged by this broker. */
    void follow() {
        halt();
        generation++;
        watermark.restart(log.nextOffset(), log.nextOffset());
    }

    /**
     * Cuts off what the leader does not have.
     *
     * @return the offset behind the last record that is left
     */
    long adopt(History leaders) throws IOException {
        follow();
        if (intake == Intake.FAILED) {
            // Behind its end there may be whole records of a batch that it could not write. They must not come into the
            // leader's epoch, in which there are others; in their own they are found, and cut off.
            throw new LogException(failure);
        }
        var ours = history();
        var common = ours.commonEnd(leaders);
        if (common < ours.end()) {
            System.err.println(log.active().path().getParent() + ": records " + common + " to " + (ours.end() - 1)
                    + " are not the leader's, and are cut off");
            log.truncate(common);
        }
        epochs.adopt(leaders.epochs());
        watermark.restart(log.nextOffset(), log.nextOffset());
        return common;
    }

    /** Nobody writes any more, nobody reads, and nobody is written to. */
    private void halt() {
        commits.drop();
        followers.forgetAll();
        readable.close();
        retired.close();
        if (inbound != null) {
            byMemory.remove(inbound.memory);
            inbound.end().forEach(sent -> sent.records().release());
            inbound = null;
            intake = Intake.MESSAGES;
        }
    }

    // ------------------------------------------------------------------------------------------- reading

    void fetch(Peer peer, Message.Fetch fetch) {
        fetches.fetch(peer, fetch);
    }

    void locate(Peer peer, int request, long offset) {
        try {
            var segment = log.find(offset);
            if (offset > watermark.committed()) {
                throw new LogException("record " + offset + " is not committed yet: " + watermark.committed()
                        + " is the next");
            }
            var isCurrent = segment == log.active();
            peer.send(new Located(request, isCurrent ? generation : Located.SEALED, segment.position(offset),
                    readableOf(segment), readable.open(segment)));
        } catch (IOException e) {
            peer.fail(request, ErrorCode.OUT_OF_RANGE, Explanation.of(e));
        } catch (OutOfMemoryError e) {
            peer.fail(request, ErrorCode.NO_MEMORY, noMemory(e, "Consume"));
        }
    }

    /** When the event loop has ended. */
    void close() throws IOException {
        if (inbound != null) {
            inbound.end().forEach(sent -> sent.records().release());
        }
        retired.close();
        readable.close();
        log.close();
    }
}
