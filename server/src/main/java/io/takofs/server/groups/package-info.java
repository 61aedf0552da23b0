/** Which groups a user is in, as permissions see it. */
package io.takofs.server.groups;
