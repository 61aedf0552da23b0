package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
)

// What clients do with a namespace. A file is created without bytes, by one call, and has all its
// bytes after another one: a write. Between the two others see it empty, rename and delete it.
const (
	create = "create"
	write  = "write"
	read   = "read"
	stat   = "stat"
	remove = "delete"
	rename = "rename"
)

// What came of it. A call that nobody knows the outcome of may happen at any later time, or never.
const (
	done    = "ok"
	absent  = "absent"  // there is no such path
	exists  = "exists"  // there is such a path already
	held    = "held"    // there is, and another client has it open for writing
	lost    = "lost"    // of a write: the file was replaced or deleted
	unknown = "unknown" // no answer, and there may never have been one
)

// Outcomes that each call may have, besides unknown.
var outcomes = map[string][]string{
	create: {done, exists, held},
	write:  {done, lost},
	read:   {done, absent},
	stat:   {done, absent},
	remove: {done, absent},
	rename: {done, absent, exists},
}

// never is the end of an operation whose outcome is unknown.
const never = math.MaxInt64

// lineMax is the most bytes a line of a history may have.
const lineMax = 1 << 20

// An event is a line of a history: an operation begins, or ends, or is given up as unknown.
type event struct {
	Op      int64  `json:"op"`      // number of the operation, from 1, used once
	Event   string `json:"event"`   // begin, end or unknown
	At      int64  `json:"at"`      // ns of one clock for all
	Process int    `json:"process"` // begin: the one thread that does it
	Do      string `json:"do"`      // begin: one of the calls above
	Path    string `json:"path"`
	Target  string `json:"target"` // of a rename
	// Of a create, whether it replaces a file, and of a rename.
	Overwrite bool `json:"overwrite"`
	// Of a create and a write, what the file has afterwards; at the end of a read, what it had, 0 for
	// nothing. No two creates have the same.
	Content int64  `json:"content"`
	Length  int64  `json:"length"`  // bytes of that; at the end of a stat, those of the file
	Open    bool   `json:"open"`    // end of a stat: somebody has the file open for writing
	Outcome string `json:"outcome"` // end
	Why     string `json:"why"`     // unknown: for people
}

// An operation is what one process did between two points of time.
type operation struct {
	number  int64
	process int
	begin   int64
	end     int64 // never when the outcome is unknown
	call    call
	result  result
}

type call struct {
	do        string
	path      string
	target    string
	overwrite bool
	content   int64
	length    int64
}

type result struct {
	outcome string
	content int64
	length  int64
	open    bool
}

// readHistory reads all events; an error says which line is wrong and why. Operations are in the
// order of their beginnings.
func readHistory(in io.Reader) ([]operation, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, lineMax)
	var begun []*operation
	byNumber := map[int64]*operation{}
	ended := map[int64]bool{}
	number := 0
	for lines.Scan() {
		number++
		e, err := parse(lines.Bytes())
		if err == nil {
			if e.Event == "begin" {
				var o *operation
				if o, err = begin(e, byNumber); err == nil {
					byNumber[e.Op] = o
					begun = append(begun, o)
				}
			} else if err = finish(e, byNumber[e.Op], ended[e.Op]); err == nil {
				ended[e.Op] = true
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", number+1, err)
	}
	if len(begun) == 0 {
		return nil, errors.New("there is no event in it")
	}
	history := make([]operation, len(begun))
	for i, o := range begun {
		history[i] = *o
	}
	sort.SliceStable(history, func(i, j int) bool { return history[i].begin < history[j].begin })
	return history, checkContents(history)
}

func parse(line []byte) (event, error) {
	var e event
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, err
	}
	if decoder.More() {
		return e, errors.New("more than one event")
	}
	return e, nil
}

func begin(e event, known map[int64]*operation) (*operation, error) {
	switch {
	case e.Op <= 0:
		return nil, fmt.Errorf("operation %d: numbers begin at 1", e.Op)
	case known[e.Op] != nil:
		return nil, fmt.Errorf("operation %d begins twice", e.Op)
	case outcomes[e.Do] == nil:
		return nil, fmt.Errorf("operation %d does %q, which is no call", e.Op, e.Do)
	case e.Path == "":
		return nil, fmt.Errorf("operation %d has no path", e.Op)
	case (e.Do == rename) != (e.Target != ""):
		return nil, fmt.Errorf("operation %d: a rename has a target, and nothing else has", e.Op)
	case e.Target == e.Path:
		return nil, fmt.Errorf("operation %d renames a path to itself", e.Op)
	case (e.Do == create || e.Do == write) != (e.Content > 0 && e.Length > 0):
		return nil, fmt.Errorf("operation %d: creates and writes have content and length", e.Op)
	}
	return &operation{
		number:  e.Op,
		process: e.Process,
		begin:   e.At,
		end:     never,
		call:    call{e.Do, e.Path, e.Target, e.Overwrite, e.Content, e.Length},
		result:  result{outcome: unknown},
	}, nil
}

func finish(e event, o *operation, ended bool) error {
	switch {
	case e.Event != "end" && e.Event != unknown:
		return fmt.Errorf("event %q is none of begin, end and unknown", e.Event)
	case o == nil:
		return fmt.Errorf("operation %d ends and has not begun", e.Op)
	case ended:
		return fmt.Errorf("operation %d ends twice", e.Op)
	case e.At < o.begin:
		return fmt.Errorf("operation %d ends before it begins", e.Op)
	case e.Event == unknown:
		return nil
	}
	for _, outcome := range outcomes[o.call.do] {
		if outcome == e.Outcome {
			o.end = e.At
			o.result = result{e.Outcome, e.Content, e.Length, e.Open}
			return nil
		}
	}
	return fmt.Errorf("operation %d: the outcome of a %s is not %q", e.Op, o.call.do, e.Outcome)
}

// checkContents sees that each content is created once, and written only where it was created.
func checkContents(history []operation) error {
	created := map[int64]call{}
	for _, o := range history {
		if o.call.do == create {
			if _, twice := created[o.call.content]; twice {
				return fmt.Errorf("operation %d creates content %d again", o.number, o.call.content)
			}
			created[o.call.content] = o.call
		}
	}
	for _, o := range history {
		if o.call.do == write {
			first, ok := created[o.call.content]
			if !ok || first.path != o.call.path || first.length != o.call.length {
				return fmt.Errorf("operation %d writes content %d, which %s never was created with",
					o.number, o.call.content, o.call.path)
			}
		}
	}
	return nil
}
