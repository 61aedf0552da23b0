package io.takofs.rpc;

/**
 * The server that a connection leads to.
 *
 * @param kind of the connection: who calls
 * @param endpoint of the server, in the transport's form
 * @param serverName the server's name in errors
 * @param clientId the session to go on with, or 0
 */
public record RpcTarget(ConnectionKind kind, String endpoint, String serverName, long clientId) {}
