/**
 * The memory of a data server: a directory of files on tmpfs, hugetlbfs or DAX, formatted once,
 * opened by one process at a time. Entry class: {@link io.takofs.server.pool.Pool}.
 */
package io.takofs.server.pool;
