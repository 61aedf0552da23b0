package main

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// searchLimit is for one of the many searches that make a violation smaller. With many operations that
// may happen at any time a search takes long, and then it is as if none of them could be left out.
const searchLimit = 200 * time.Millisecond

// statesMax is the most states that a violation may begin with.
const statesMax = 4

// linesMax is the most operations that are told of.
const linesMax = 40

// An explanation says what is wrong with a history: it led to one of some states, and from none of
// these does any order explain what came then.
type explanation struct {
	states []namespace
	after  int64 // when it was in one of these; 0 for the beginning
	known  []operation
	end    time.Time // of the search for a smaller one
}

// explain looks for a small one. First for the shortest history that is wrong. Then for the last time
// before its last operation when none was under way; what there could be then says all of what was
// before. Then each operation is left out that the contradiction does not need: not even if it may
// happen at any time after its begin, or never, is there an order. Where the contents of the others
// come from is told, too.
func explain(part []operation, limit time.Duration) explanation {
	e := explanation{states: []namespace{nil}, known: part, end: time.Now().Add(limit)}
	e.shorten()
	e.beginLate()
	freed := append([]operation(nil), e.known...)
	for _, changing := range []bool{false, true} { // what changed nothing is quickly looked at
		for i, o := range e.known {
			if o.changes() == changing {
				freed[i] = o.freed()
				if !e.isWrong(freed) {
					freed[i] = o
				}
			}
		}
	}
	e.known = needed(e.known, freed)
	return e
}

// isWrong is true when a part cannot follow any of the states, and a search said so in time.
func (e explanation) isWrong(part []operation) bool {
	for _, state := range e.states {
		if !time.Now().Before(e.end) {
			return false
		}
		result := porcupine.CheckOperationsTimeout(modelFrom(state), operations(part), searchLimit)
		if result != porcupine.Illegal {
			return false
		}
	}
	return true
}

// shorten ends the history with the first end that contradicts it: a longer one is wrong as well.
func (e *explanation) shorten() {
	var ends []int64
	for _, o := range e.known {
		if o.end != never {
			ends = append(ends, o.end)
		}
	}
	sort.Slice(ends, func(i, j int) bool { return ends[i] < ends[j] })
	index := sort.Search(len(ends), func(i int) bool { return e.isWrong(until(e.known, ends[i])) })
	if index < len(ends) { // else searches took too long
		e.known = until(e.known, ends[index])
	}
}

// beginLate begins with what there could be at the last time before the last operation when none was
// under way.
func (e *explanation) beginLate() {
	last := e.known[0]
	for _, o := range e.known {
		if o.end != never && (last.end == never || o.end > last.end) {
			last = o
		}
	}
	at := int64(math.MinInt64)
	for _, o := range e.known {
		if o.end < last.begin && o.end > at && isQuiet(e.known, o.end) {
			at = o.end
		}
	}
	states := statesAfter(until(e.known, at), e.end)
	if len(states) == 0 {
		return
	}
	late := explanation{states: states, after: at, end: e.end}
	for _, o := range e.known {
		if o.begin > at || o.end == never { // which may happen later
			late.known = append(late.known, o)
		}
	}
	if late.isWrong(late.known) {
		*e = late
	}
}

// isQuiet says whether all has ended by then that ever ended, and nothing of the rest has begun.
func isQuiet(part []operation, at int64) bool {
	for _, o := range part {
		if o.begin <= at && o.end > at && o.end != never {
			return false
		}
	}
	return true
}

// statesAfter is all that there may be after a part; nothing when that is too much.
func statesAfter(part []operation, end time.Time) []namespace {
	var states []namespace
	for len(part) > 0 && time.Now().Before(end) {
		all := append(operations(part), porcupine.Operation{
			Input: otherThan(states), Call: never - 1, Return: never - 1,
		})
		result, info := porcupine.CheckOperationsVerbose(modelFrom(nil), all, searchLimit)
		if result == porcupine.Illegal {
			return states
		}
		if result == porcupine.Unknown || len(states) == statesMax {
			return nil
		}
		states = append(states, replay(info.PartialLinearizationsOperations()[0][0]))
	}
	return nil
}

// replay is what there is when the order comes to the question what there is.
func replay(order []porcupine.Operation) namespace {
	var state namespace
	for _, o := range order {
		if _, asks := o.Input.(otherThan); asks {
			break
		}
		_, state = step(state, o.Input.(call), o.Output.(result))
	}
	return state
}

// needed is what was not freed, and where the contents of that come from.
func needed(known, freed []operation) []operation {
	contents := map[int64]bool{}
	for _, o := range freed {
		if o.result.outcome != unknown {
			contents[o.call.content] = true
			contents[o.result.content] = true
		}
	}
	var core []operation
	for i, o := range known {
		if freed[i].result.outcome != unknown || o.call.content != 0 && contents[o.call.content] {
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

func (o operation) freed() operation {
	o.end = never
	o.result = result{outcome: unknown}
	return o
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
func (e explanation) report(origin int64) string {
	var lines []string
	if e.after != 0 {
		var states []string
		for _, state := range e.states {
			states = append(states, state.String())
		}
		lines = append(lines, fmt.Sprintf("%.3f ms after its begin there is %s, and",
			millis(e.after-origin), strings.Join(states, " or ")))
	}
	core := e.known
	lines = append(lines, fmt.Sprintf("no order of these %d operations explains their results:", len(core)))
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
