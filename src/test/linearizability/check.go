package main

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// partition divides a history where no rename, begun or ended, connects paths. A write belongs to the
// path that its file was created at.
func partition(history []operation) [][]operation {
	parent := map[string]string{}
	var root func(path string) string
	root = func(path string) string {
		above, known := parent[path]
		if !known || above == path {
			parent[path] = path
			return path
		}
		parent[path] = root(above)
		return parent[path]
	}
	for _, o := range history {
		if o.call.do == rename {
			parent[root(o.call.path)] = root(o.call.target)
		}
	}
	parts := map[string][]operation{}
	var order []string
	for _, o := range history {
		key := root(o.call.path)
		if parts[key] == nil {
			order = append(order, key)
		}
		parts[key] = append(parts[key], o)
	}
	var all [][]operation
	for _, key := range order {
		all = append(all, parts[key])
	}
	return all
}

// check asks whether there is an order of a part of a history that explains it.
func check(part []operation, limit time.Duration) (porcupine.CheckResult, porcupine.LinearizationInfo) {
	return porcupine.CheckOperationsVerbose(model, operations(part), limit)
}

func operations(part []operation) []porcupine.Operation {
	var all []porcupine.Operation
	for _, o := range part {
		if o.result.outcome == unknown && (o.call.do == read || o.call.do == stat) {
			continue // it changed nothing and says nothing
		}
		all = append(all, porcupine.Operation{
			ClientId: o.process,
			Input:    o.call,
			Call:     o.begin,
			Output:   o.result,
			Return:   o.end,
			Metadata: o.number,
		})
	}
	return all
}

// searchLimit is for one of the many searches that make a violation smaller. With many operations that
// may happen at any time a search takes long, and then it is as if none of them could be left out.
const searchLimit = 200 * time.Millisecond

// linesMax is the most operations that are told of.
const linesMax = 40

// explain returns few operations of a part that no order explains, so that no order explains these:
// of the shortest history that is wrong, those that the contradiction needs. An operation is not needed
// when there is no order even if it may happen at any time after its begin, or never. Where the
// contents of these come from is told, too.
func explain(part []operation, limit time.Duration) []operation {
	end := time.Now().Add(limit)
	isWrong := func(part []operation) bool {
		return time.Now().Before(end) && isWrong(part, searchLimit)
	}
	known := shortest(part, isWrong)
	freed := append([]operation(nil), known...)
	for _, changing := range []bool{false, true} { // what changed nothing is quickly looked at
		for i, o := range known {
			if o.changes() == changing {
				freed[i] = o.freed()
				if !isWrong(freed) {
					freed[i] = o
				}
			}
		}
	}
	seen := map[int64]bool{}
	for _, o := range freed {
		if o.result.outcome != unknown {
			seen[o.call.content] = true
			seen[o.result.content] = true
		}
	}
	var core []operation
	for i, o := range known {
		if freed[i].result.outcome != unknown || o.call.content != 0 && seen[o.call.content] {
			core = append(core, o)
		}
	}
	return core
}

// changes says whether it may have changed something.
func (o operation) changes() bool {
	reads := o.call.do == read || o.call.do == stat
	return !reads && (o.result.outcome == done || o.result.outcome == unknown)
}

func isWrong(part []operation, limit time.Duration) bool {
	result, _ := check(part, limit)
	return result == porcupine.Illegal
}

func (o operation) freed() operation {
	o.end = never
	o.result = result{outcome: unknown}
	return o
}

// shortest is the part until the first end that contradicts it: a longer history is wrong as well.
func shortest(part []operation, isWrong func([]operation) bool) []operation {
	var ends []int64
	for _, o := range part {
		if o.end != never {
			ends = append(ends, o.end)
		}
	}
	sort.Slice(ends, func(i, j int) bool { return ends[i] < ends[j] })
	index := sort.Search(len(ends), func(i int) bool { return isWrong(until(part, ends[i])) })
	if index == len(ends) { // a search took too long
		return part
	}
	return until(part, ends[index])
}

// until is what was known at some time.
func until(part []operation, at int64) []operation {
	var known []operation
	for _, o := range part {
		if o.begin <= at {
			if o.end > at {
				o = o.freed()
			}
			known = append(known, o)
		}
	}
	return known
}

// report is a violation for people to read, times in ms since the history began.
func report(core []operation, origin int64) string {
	lines := []string{fmt.Sprintf("no order of these %d operations explains their results:", len(core))}
	if left := len(core) - linesMax; left > 0 {
		lines = append(lines, fmt.Sprintf("  (%d before these)", left))
		core = core[left:]
	}
	for _, o := range core {
		end := "      never"
		if o.end != never {
			end = fmt.Sprintf("%11.3f", millis(o.end-origin))
		}
		lines = append(lines, fmt.Sprintf("  %6d  process %-3d [%11.3f, %s] ms  %s",
			o.number, o.process, millis(o.begin-origin), end, describe(o.call, o.result)))
	}
	return strings.Join(lines, "\n")
}

func millis(ns int64) float64 {
	return math.Round(float64(ns)/1e3) / 1e3
}
