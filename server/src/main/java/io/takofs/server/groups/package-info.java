/** Maps users to the groups that permission checks use. */
package io.takofs.server.groups;
