// Linearizability checks histories of a namespace that clients have recorded: is there an order of the
// operations, each at one point between its begin and its end, that explains every result?
//
// A history is a file of events, one a line, in JSON; history.go has the fields. At the beginning
// there are no files. The search is porcupine's; the model of the namespace is in model.go.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// Exit codes. Of several histories, the highest counts.
const (
	isLinearizable = 0
	isWrongHistory = 1
	isBadInput     = 2
	isUndecided    = 3
)

const usage = `usage: linearizability [--html FILE] [--limit DURATION] HISTORY...

Checks whether each history, a file of JSON lines, is linearizable, and prints OK or what is wrong.
  --html FILE        draw the part that is wrong, or without one the first part, for a browser
  --limit DURATION   of the search in one part of a history, 60s unless given
  --shrink DURATION  of the searches for fewer operations that are wrong, 10s unless given
Exit status: 0 when all are, 1 when one is not, 2 for bad input, 3 when the limit was too short.
`

// shrinkLimit is for all searches that make a violation smaller, unless another one is given.
const shrinkLimit = 10 * time.Second

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(arguments []string, out, errors io.Writer) int {
	flags := flag.NewFlagSet("linearizability", flag.ContinueOnError)
	flags.SetOutput(errors)
	flags.Usage = func() { fmt.Fprint(errors, usage) }
	html := flags.String("html", "", "")
	limit := flags.Duration("limit", time.Minute, "")
	shrink := flags.Duration("shrink", shrinkLimit, "")
	if err := flags.Parse(arguments); err == flag.ErrHelp {
		return isLinearizable
	} else if err != nil {
		return isBadInput
	}
	if flags.NArg() == 0 || *limit <= 0 {
		flags.Usage()
		return isBadInput
	}
	worst := isLinearizable
	for _, name := range flags.Args() {
		code, err := checkFile(name, *html, *limit, *shrink, out)
		if err != nil {
			fmt.Fprintf(errors, "%s: %v\n", name, err)
		}
		if code > worst {
			worst = code
		}
	}
	return worst
}

func checkFile(name, html string, limit, shrink time.Duration, out io.Writer) (int, error) {
	in, err := os.Open(name)
	if err != nil {
		return isBadInput, err
	}
	defer in.Close()
	history, err := readHistory(in)
	if err != nil {
		return isBadInput, err
	}
	parts := partition(history)
	code := isLinearizable
	for i, part := range parts {
		result, info := check(part, limit)
		if html != "" && (i == 0 || result == porcupine.Illegal) {
			if err := porcupine.VisualizePath(modelFrom(nil), info, html); err != nil {
				return isBadInput, err
			}
		}
		switch result {
		case porcupine.Illegal:
			few := explain(part, shrink)
			fmt.Fprintf(out, "%s: not linearizable: %s\n", name, few.report(history[0].begin))
			return isWrongHistory, nil
		case porcupine.Unknown:
			fmt.Fprintf(out, "%s: undecided after %v: %d operations with %s\n", name, limit, len(part), part[0].call.path)
			code = isUndecided
		}
	}
	if code == isLinearizable {
		open := 0
		for _, o := range history {
			if o.end == never {
				open++
			}
		}
		fmt.Fprintf(out, "%s: OK: %d operations, %d of unknown outcome, in %d independent parts\n",
			name, len(history), open, len(parts))
	}
	return code, nil
}
