/** The documents, held against the product: commands are run, links followed, diagrams drawn. */
package io.takofs.docs;
