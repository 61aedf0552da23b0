/** The client API: TakoClient and its streams. */
package io.takofs.client;
