// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/** Does as other links do, but for what a test overrides. */
abstract class DelegatingLinks implements Links {

    private final Links links;

    DelegatingLinks(Links links) {
        this.links = links;
    }

    @Override
    public LinkHalf held(LaneKind lane, Party client) {
        return links.held(lane, client);
    }

    @Override
    public LinkHalf held(LaneKind lane, Party client, long own, long theirs) {
        return links.held(lane, client, own, theirs);
    }

    @Override
    public LinkHalf accept(LaneKind lane, Party client, long theirs, byte[] address) throws LinkException {
        return links.accept(lane, client, theirs, address);
    }

    @Override
    public void confirm(LinkHalf half) {
        links.confirm(half);
    }

    @Override
    public LinkHalf match(LaneKind lane, Party server, long theirs) {
        return links.match(lane, server, theirs);
    }

    @Override
    public void request(LaneKind lane, Party server, LinkRequest request) {
        links.request(lane, server, request);
    }

    @Override
    public LinkHalf complete(LinkHalf offered, long theirs, byte[] address) throws LinkException {
        return links.complete(offered, theirs, address);
    }

    @Override
    public void reach(LinkHalf completed, LinkReach asking) {
        links.reach(completed, asking);
    }

    @Override
    public void abandon(LinkHalf offered, boolean told) {
        links.abandon(offered, told);
    }

    @Override
    public void stale(LinkHalf half) {
        links.stale(half);
    }

    @Override
    public void withdraw(LinkRequest request) {
        links.withdraw(request);
    }
}
