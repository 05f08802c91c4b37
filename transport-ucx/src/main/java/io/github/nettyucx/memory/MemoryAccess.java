// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.memory.UcxMemoryException.Reason;
import io.github.nettyucx.wire.ProtocolException;
import io.github.nettyucx.wire.Tag;
import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.EndpointPort;
import io.github.nettyucx.worker.NativeBuffers;
import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;

/**
 * The other role: asks for operations on the peer's memory, and learns what has become of them. Operations that this
 * process carries out itself, on memory that it has attached, do not come here.
 */
public final class MemoryAccess {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(MemoryAccess.class);

    /** Something of this side's own: completes when everything before it has. */
    private static final int FLUSH = 0;

    private final MemoryExchange exchange;
    private final EndpointPort port;
    private final Operations operations = new Operations();
    private final Requests<Operation> receiving;
    private final Openings openings;

    MemoryAccess(MemoryExchange exchange, EndpointPort port) {
        this.exchange = exchange;
        this.port = port;
        receiving = new Requests<>(port);
        openings = new Openings(this, exchange, port);
    }

    // ------------------------------------------------------------------------------------------- beginning

    /** Opens a key of the peer's. */
    public void open(byte[] key, EventExecutor executor, Promise<UcxRemoteMemory> promise) {
        MemoryKey parsed;
        try {
            parsed = MemoryKey.parse(key);
        } catch (UcxMemoryException e) {
            promise.tryFailure(e);
            return;
        }
        Throwable problem = problem();
        if (problem != null) {
            promise.tryFailure(problem);
            return;
        }
        int frame = newFrame((id, value, cause) -> promise.tryFailure(cause), 0);
        if (frame < 0) {
            return;
        }
        Operation operation = operations.begin(MemoryFrame.OPEN, null, 0);
        operation.opening = promise;
        operation.executor = executor;
        long address = exchange.frames().address(frame);
        MemoryFrame.putLong(address, 0);
        MemoryFrame.putByte(address + MemoryFrame.KIND_AT, MemoryFrame.OPEN);
        MemoryFrame.putBytes(address + MemoryFrame.KEY_AT, parsed.bytes());
        send(operation, frame, MemoryFrame.OPEN_LENGTH);
    }

    /** Why there is nothing that could be done any more, or {@code null}. */
    IOException end() {
        return exchange.end();
    }

    /** Why nothing can be begun, or {@code null}. */
    Throwable problem() {
        if (end() != null) {
            return end();
        }
        return operations.count() >= MemoryFrame.MAX_OPERATIONS ? new UcxMemoryException(Reason.TOO_MANY) : null;
    }

    /** @return a frame for what can be begun then; -1: there is no memory for the two, of which has been told */
    private int newFrame(UcxCompletion completion, long id) {
        try {
            operations.prepare();
            return exchange.frames().acquire();
        } catch (OutOfMemoryError e) {
            tell(completion, id, 0, reason(e));
            return -1;
        }
    }

    /** What the application is told of something that was thrown. */
    private static Throwable reason(Throwable cause) {
        return cause instanceof OutOfMemoryError
                ? new IOException("no memory for the operation: " + cause.getMessage(), cause) : cause;
    }

    /** @param source of which a reference is taken over */
    void put(int handle, long offset, ByteBuf source, boolean notifying, long notification, UcxCompletion completion,
             long id) {
        if (source.refCnt() == 0) {
            // Before anything is sent.
            throw new IllegalReferenceCountException(0);
        }
        int length = source.readableBytes();
        boolean isInline = length <= MemoryFrame.MAX_INLINE;
        ByteBuf sent = source;
        if (!isInline && !BufferAddress.isContiguous(source)) {
            sent = copied(source, completion, id);
            if (sent == null) {
                return;
            }
        }
        int frame = newFrame(completion, id);
        if (frame < 0) {
            giveUp(source, sent);
            return;
        }
        long address = exchange.frames().address(frame);
        MemoryFrame.request(address, MemoryFrame.PUT, notifying ? MemoryFrame.NOTIFYING : 0, handle, offset, length,
                notification, 0);
        long from = 0;
        Operation operation;
        try {
            if (isInline) {
                RawMemory.copyOut(source, source.readerIndex(), address + MemoryFrame.REQUEST_LENGTH, length);
            } else {
                // A composite's only piece may have been released. Behind the request its bytes have to come.
                from = BufferAddress.of(sent, sent.readerIndex(), length);
            }
            operation = operations.begin(MemoryFrame.PUT, completion, id);
        } catch (Throwable t) {
            exchange.frames().release(frame);
            giveUp(source, sent);
            if (t instanceof OutOfMemoryError) {
                tell(completion, id, 0, reason(t));
                return;
            }
            throw t;
        }
        if (isInline) {
            send(operation, frame, MemoryFrame.REQUEST_LENGTH + length);
        } else {
            send(operation, frame, MemoryFrame.REQUEST_LENGTH);
            exchange.send(Tag.MEMORY_PUT, operation.number, from, length, -1, sent);
        }
        if (isInline || sent != source) {
            // Last, because that can have the application close the channel.
            source.release();
        }
    }

    /**
     * Before there is a frame for it: the source's allocator is the application's, and can close the channel.
     *
     * @return {@code null} if there is nothing to be sent, and whoever waits for it has been told
     */
    private ByteBuf copied(ByteBuf source, UcxCompletion completion, long id) {
        ByteBuf copy;
        try {
            copy = NativeBuffers.copy(source.alloc(), source);
        } catch (Throwable t) {
            ReferenceCountUtil.safeRelease(source);
            if (t instanceof OutOfMemoryError) {
                tell(completion, id, 0, reason(t));
                return null;
            }
            throw t;
        }
        if (exchange.end() == null) {
            return copy;
        }
        giveUp(source, copy);
        tell(completion, id, 0, exchange.end());
        return null;
    }

    /** Of a put whose bytes cannot be had, such as of a buffer a part of which has been released. */
    private static void giveUp(ByteBuf source, ByteBuf sent) {
        if (sent != source) {
            sent.release();
        }
        ReferenceCountUtil.safeRelease(source);
    }

    /**
     * The bytes are there already: {@code offset} and {@code length} say where.
     *
     * @param source     that they come from, of which a reference is taken over
     * @param completion told when UCX has taken the message: who waits for it does not fill memory while the owner sleeps
     */
    void notify(int handle, long offset, long length, ByteBuf source, long notification, UcxCompletion completion,
                long id) {
        int frame = newFrame(completion, id);
        if (frame < 0) {
            source.release();
            return;
        }
        MemoryFrame.request(exchange.frames().address(frame), MemoryFrame.NOTIFY, MemoryFrame.NOTIFYING, handle, offset,
                length, notification, 0);
        MemoryExchange.Sent sent;
        try {
            sent = exchange.send(Tag.MEMORY_REQUEST, 0, frame, MemoryFrame.REQUEST_LENGTH);
            if (sent != MemoryExchange.Sent.TAKEN) {
                Operation operation = operations.begin(MemoryFrame.NOTIFY, completion, id);
                if (sent == MemoryExchange.Sent.KEPT) {
                    exchange.completeWithLast(operation);
                }
                // Or else it fails with the connection.
            }
        } finally {
            // That can have the application close the channel.
            source.release();
        }
        if (sent == MemoryExchange.Sent.TAKEN) {
            tell(completion, id, 0, null);
        }
    }

    void get(int handle, long offset, ByteBuf target, int index, int length, UcxCompletion completion, long id) {
        // Before anything is sent: one that has been released already throws.
        target.retain();
        Operation operation = request(MemoryFrame.GET, handle, offset, length, 0, 0, completion, id);
        if (operation == null) {
            target.release();
            return;
        }
        operation.buffer = target;
        operation.index = index;
        operation.length = length;
    }

    void add(int handle, long offset, long delta, UcxCompletion completion, long id) {
        request(MemoryFrame.ADD, handle, offset, Long.BYTES, delta, 0, completion, id);
    }

    void swap(int handle, long offset, long expected, long update, UcxCompletion completion, long id) {
        request(MemoryFrame.SWAP, handle, offset, Long.BYTES, expected, update, completion, id);
    }

    /** @return what is under way now, or {@code null} */
    private Operation request(int kind, int handle, long offset, long length, long value, long update,
                              UcxCompletion completion, long id) {
        int frame = newFrame(completion, id);
        if (frame < 0) {
            return null;
        }
        MemoryFrame.request(exchange.frames().address(frame), kind, 0, handle, offset, length, value, update);
        Operation operation = operations.begin(kind, completion, id);
        send(operation, frame, MemoryFrame.REQUEST_LENGTH);
        return operation;
    }

    private void send(Operation operation, int frame, int length) {
        exchange.send(Tag.MEMORY_REQUEST, operation.number, frame, length);
    }

    /** Completes when everything that was begun before has, and fails if something failed of which nobody was told. */
    void flush(UcxCompletion completion, long id) {
        if (operations.count() == 0) {
            tell(completion, id, 0, failureForFlush());
            return;
        }
        try {
            operations.begin(FLUSH, completion, id);
        } catch (OutOfMemoryError e) {
            tell(completion, id, 0, reason(e));
        }
    }

    private Throwable failureForFlush() {
        Throwable failure = operations.takeUntold();
        return failure != null ? failure : end();
    }

    void close(UcxRemoteMemory memory) {
        openings.close(memory);
    }

    // ------------------------------------------------------------------------------------------- operations

    void complete(Operation operation, Throwable failure) {
        operation.done = true;
        operation.failure = failure;
        if (operation.staging != null) {
            if (failure == null) {
                operation.failure = copyToTarget(operation);
            }
            operation.staging.release();
            operation.staging = null;
        }
        operations.completed(operation);
        exchange.ready();
    }

    /** @return why that was not possible, or {@code null} */
    private static Throwable copyToTarget(Operation operation) {
        try {
            RawMemory.checkParts(operation.buffer, operation.index, operation.length);
            operation.buffer.setBytes(operation.index, operation.staging, 0, operation.length);
            return null;
        } catch (Throwable t) {
            // The application has released its target too often, or has made it smaller; or it is a file.
            return reason(t);
        }
    }

    private Operation waiting(int number, long message) throws ProtocolException {
        Operation operation = operations.find(number);
        if (operation == null || operation.done || operation.kind == FLUSH || operation.kind == MemoryFrame.NOTIFY
                || operation.request != 0) {
            throw exchange.violation(message, "the peer answered operation " + number + ", which is not under way");
        }
        return operation;
    }

    // ------------------------------------------------------------------------------------------- answers

    void answered(int number, long message, long length) throws ProtocolException {
        Operation operation = waiting(number, message);
        if (length == 0) {
            port.discard(message);
            if (operation.kind != MemoryFrame.PUT && !(operation.kind == MemoryFrame.GET && operation.length == 0)) {
                throw new ProtocolException("the peer answered operation " + number + " without a word");
            }
            complete(operation, null);
            return;
        }
        if (length < MemoryFrame.ANSWER_LENGTH || length > MemoryFrame.MAX_LENGTH) {
            throw exchange.violation(message, "the peer sent an answer of " + length + " bytes; expected 0 or "
                    + MemoryFrame.ANSWER_LENGTH + " to " + MemoryFrame.MAX_LENGTH);
        }
        operation.frame = exchange.frameFor(message);
        operation.frameLength = length;
        if (exchange.receive(receiving, operation, message, exchange.frames().address(operation.frame), length)) {
            parse(operation);
        } else if (operation.kind == MemoryFrame.OPEN && operation.request != 0) {
            openings.begin();
        }
    }

    void got(int number, long message, long length) throws ProtocolException {
        Operation operation = waiting(number, message);
        if (operation.kind != MemoryFrame.GET || length != operation.length) {
            throw exchange.violation(message, "the peer sent " + length + " bytes of memory for operation " + number
                    + ", which did not ask for them");
        }
        long address;
        try {
            address = place(operation);
        } catch (Throwable t) {
            // This operation fails, and no other. What the peer has sent has to be received all the same.
            port.discard(message);
            if (!operation.done) {
                complete(operation, reason(t));
            }
            return;
        }
        if (operation.done) {
            // The target's allocator has closed the channel, which has failed all operations.
            port.discard(message);
            ReferenceCountUtil.safeRelease(operation.staging);
            operation.staging = null;
            return;
        }
        if (exchange.receive(receiving, operation, message, address, length)) {
            complete(operation, null);
        }
    }

    /**
     * Where UCX may write what is got. The application may have released its target too often, or made it smaller; of memory
     * between UCX and the target, the allocator is the application's.
     */
    private static long place(Operation operation) {
        ByteBuf target = operation.buffer;
        RawMemory.checkTarget(target, operation.index, operation.length);
        if (BufferAddress.isContiguous(target)) {
            return BufferAddress.of(target, operation.index, operation.length);
        }
        operation.staging = NativeBuffers.allocate(target.alloc(), operation.length);
        return BufferAddress.of(operation.staging, 0, operation.length);
    }

    boolean isReceiving() {
        return receiving.count() > 0;
    }

    void poll() throws ProtocolException {
        receiving.begin();
        for (Operation operation = receiving.nextCompleted(); operation != null; operation = receiving.nextCompleted()) {
            int status = receiving.status();
            boolean opening = operation.kind == MemoryFrame.OPEN;
            if (status < 0) {
                exchange.failed(status);
            } else if (operation.frame >= 0) {
                parse(operation);
            } else {
                complete(operation, null);
            }
            if (opening) {
                openings.end();
            }
        }
    }

    private void parse(Operation operation) throws ProtocolException {
        int frame = operation.frame;
        operation.frame = -1;
        long address = exchange.frames().address(frame);
        int code = MemoryFrame.getByte(address + MemoryFrame.REASON_AT);
        try {
            if (code != 0) {
                Reason reason = Reason.of(code);
                if (reason == null) {
                    throw new ProtocolException("the peer refused an operation for the unknown reason " + code);
                }
                complete(operation, new UcxMemoryException(reason));
            } else if (operation.kind == MemoryFrame.OPEN) {
                openings.opened(operation, address);
            } else if (operation.kind == MemoryFrame.ADD || operation.kind == MemoryFrame.SWAP) {
                operation.value = MemoryFrame.getLong(address + MemoryFrame.PREVIOUS_AT);
                complete(operation, null);
            } else {
                throw new ProtocolException("the peer sent a value for operation " + operation.number
                        + ", which has none");
            }
        } finally {
            if (exchange.end() == null) {
                exchange.frames().release(frame);
            }
        }
    }

    void revoked(int handle) {
        openings.revoked(handle);
    }

    // ------------------------------------------------------------------------------------------- the application

    void deliver() {
        // Who is told may end the connection, and what is told then comes in between.
        for (int n = operations.completedCount(); n > 0 && operations.completedCount() > 0; n--) {
            end(operations.pollCompleted());
        }
        for (Operation first = operations.first(); first != null && first.kind == FLUSH; first = operations.first()) {
            first.failure = failureForFlush();
            end(first);
        }
        if (operations.completedCount() > 0) {
            exchange.ready();
        }
    }

    private void end(Operation operation) {
        ByteBuf buffer = operation.buffer;
        operation.buffer = null;
        // That can have the application close the channel. No flush is told before this one.
        ReferenceCountUtil.safeRelease(buffer);
        UcxCompletion completion = operation.completion;
        Promise<UcxRemoteMemory> opening = operation.opening;
        long id = operation.id;
        long value = operation.value;
        Throwable failure = operation.failure;
        operation.completion = null;
        operation.opening = null;
        operation.executor = null;
        operation.failure = null;
        operation.kind = FLUSH;
        operation.done = true;
        operations.end(operation, completion == null && opening == null ? failure : null);
        if (opening != null && failure != null) {
            opening.tryFailure(failure);
        } else if (completion != null) {
            tell(completion, id, value, failure);
        }
    }

    /** Tells whoever there is of an operation that is not under way. What he throws is not the others' matter. */
    void tell(UcxCompletion completion, long id, long value, Throwable failure) {
        if (completion == null) {
            operations.failed(failure);
            return;
        }
        try {
            completion.done(id, value, failure);
        } catch (Throwable t) {
            logger.warn("A completion has thrown an exception.", t);
        }
    }

    // ------------------------------------------------------------------------------------------- the end

    /** All that is under way fails, and is told of it by the next {@link #deliver}. */
    void ended() {
        receiving.abandon(this::abandon);
        // The application is not called meanwhile.
        for (Operation operation = operations.first(); operation != null; operation = operation.behind) {
            if (!operation.done && operation.kind != FLUSH) {
                complete(operation, exchange.end());
            }
        }
        openings.ended();
    }

    /** The bytes may still come: the reference is the operation of UCX's now. */
    private void abandon(Operation operation) {
        if (operation.frame >= 0) {
            port.abandon(operation.request, exchange.frames().retained(operation.frame));
        } else if (operation.staging != null) {
            port.abandon(operation.request, operation.staging);
            operation.staging = null;
        } else {
            port.abandon(operation.request, operation.buffer);
            operation.buffer = null;
        }
    }
}
