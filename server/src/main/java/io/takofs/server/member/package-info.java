/**
 * This process as a member of a group: its log on real transports, the way to the other members,
 * the thread of heartbeats and elections, and the change of the members.
 */
package io.takofs.server.member;
