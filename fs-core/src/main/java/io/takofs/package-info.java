/** Root of Tako's core: everything a client and a server share, with no Hadoop type in it. */
package io.takofs;
