/**
 * Self-identified RPC over one queue pair: a request is one writeWithImmediate into the slot that
 * its immediate names, the reply is one in the other direction; nobody scans buffers.
 */
package io.takofs.rpc;
