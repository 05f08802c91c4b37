// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;

/** What this side has asked for and is under way; see {@link MemoryAccess}. The answer is received. */
final class Operation extends Requests.Request {

    int number;
    int kind;
    UcxCompletion completion;
    long id;
    /** Where the bytes go, or come from; retained. */
    ByteBuf buffer;
    /** For the bytes that are got, where UCX cannot write into the buffer; or {@code null}. */
    ByteBuf staging;
    int index;
    int length;
    /** Where an answer is received; or -1. */
    int frame;
    long frameLength;
    boolean done;
    long value;
    Throwable failure;
    /** Its own, or else the first of operations behind it that are over, if nobody is told of it: a flush behind it is. */
    Throwable untold;
    /** Of an opening. */
    Promise<UcxRemoteMemory> opening;
    EventExecutor executor;
    /** In the order of {@link Operations}. */
    Operation before;
    Operation behind;
    Operation nextCompleted;
}
