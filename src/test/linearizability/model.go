package main

import (
	"fmt"
	"hash/fnv"
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A file has its bytes, or does not have them yet.
type file struct {
	path    string
	content int64
	length  int64
	written bool
}

// A namespace is the files that there are, in the order of their paths. It is never changed.
type namespace []file

func (n namespace) find(path string) *file {
	for i := range n {
		if n[i].path == path {
			return &n[i]
		}
	}
	return nil
}

func (n namespace) findContent(content int64) *file {
	for i := range n {
		if n[i].content == content {
			return &n[i]
		}
	}
	return nil
}

// with is this namespace with f in place of whatever has its path.
func (n namespace) with(f file) namespace {
	next := append(n.without(f.path), f)
	sort.Slice(next, func(i, j int) bool { return next[i].path < next[j].path })
	return next
}

func (n namespace) without(path string) namespace {
	next := make(namespace, 0, len(n)+1)
	for _, f := range n {
		if f.path != path {
			next = append(next, f)
		}
	}
	return next
}

// step is what a call does if it happens now. False when it could not have had this result.
func step(n namespace, c call, r result) (bool, namespace) {
	if r.outcome == unknown {
		if c.do == read || c.do == stat {
			return true, n
		}
		if ok, next := step(n, c, result{outcome: done}); ok {
			return true, next
		}
		return true, n // it is refused, or never happens
	}
	found := n.find(c.path)
	switch c.do {
	case create:
		return stepCreate(n, found, c, r)
	case write:
		return stepWrite(n, c, r)
	case read:
		return found.isAsRead(r), n
	case stat:
		return found.isAsSeen(r), n
	case remove:
		if r.outcome == absent {
			return found == nil, n
		}
		return found != nil, n.without(c.path)
	case rename:
		return stepRename(n, found, c, r)
	}
	return false, n
}

func stepCreate(n namespace, found *file, c call, r result) (bool, namespace) {
	switch r.outcome {
	case exists:
		return !c.overwrite && found != nil, n
	case held:
		return !c.overwrite && found != nil && !found.written, n
	}
	if found != nil && !c.overwrite {
		return false, n
	}
	return true, n.with(file{c.path, c.content, c.length, false})
}

// A write finds its file wherever that was renamed to. It is lost without the file, and when the
// lease on the file was: then nothing will be written.
func stepWrite(n namespace, c call, r result) (bool, namespace) {
	found := n.findContent(c.content)
	if r.outcome == lost {
		return found == nil || !found.written, n
	}
	if found == nil || found.written {
		return false, n
	}
	written := *found
	written.written = true
	return true, n.with(written)
}

func stepRename(n namespace, found *file, c call, r result) (bool, namespace) {
	target := n.find(c.target)
	switch r.outcome {
	case absent:
		return found == nil, n
	case exists:
		return found != nil && target != nil && !c.overwrite, n
	}
	if found == nil || target != nil && !c.overwrite {
		return false, n
	}
	moved := *found
	moved.path = c.target
	return true, n.without(c.path).with(moved)
}

func (f *file) isAsRead(r result) bool {
	switch {
	case r.outcome == absent || f == nil:
		return r.outcome == absent && f == nil
	case f.written:
		return r.content == f.content
	}
	return r.content == 0
}

// A file that was never written is open until its writer's lease ends, whenever that is.
func (f *file) isAsSeen(r result) bool {
	switch {
	case r.outcome == absent || f == nil:
		return r.outcome == absent && f == nil
	case f.written:
		return r.length == f.length && !r.open
	}
	return r.length == 0
}

func (n namespace) equal(other namespace) bool {
	if len(n) != len(other) {
		return false
	}
	for i := range n {
		if n[i] != other[i] {
			return false
		}
	}
	return true
}

func (n namespace) String() string {
	var files []string
	for _, f := range n {
		content := fmt.Sprint(f.content)
		if !f.written {
			content += ", empty"
		}
		files = append(files, f.path+" ("+content+")")
	}
	return "{" + strings.Join(files, ", ") + "}"
}

// modelFrom is a namespace that begins with some files.
func modelFrom(first namespace) porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return first },
		Step: func(state, input, output interface{}) (bool, interface{}) {
			if others, ok := input.(otherThan); ok {
				return !others.contain(state.(namespace)), state
			}
			return step(state.(namespace), input.(call), output.(result))
		},
		Equal: func(a, b interface{}) bool { return a.(namespace).equal(b.(namespace)) },
		Hash: func(state interface{}) uint64 {
			hash := fnv.New64a()
			fmt.Fprint(hash, state.(namespace).String())
			return hash.Sum64()
		},
		DescribeOperation: func(input, output interface{}) string {
			return describe(input.(call), output.(result))
		},
		DescribeState: func(state interface{}) string { return state.(namespace).String() },
	}
}

// otherThan asks, in place of a call, that there is none of these.
type otherThan []namespace

func (n otherThan) contain(state namespace) bool {
	for _, other := range n {
		if other.equal(state) {
			return true
		}
	}
	return false
}

// describe is an operation in words.
func describe(c call, r result) string {
	words := c.do + " " + c.path
	if c.do == rename {
		words += " to " + c.target
	}
	if c.overwrite {
		words += ", replacing"
	}
	if c.content != 0 {
		words += fmt.Sprintf(" (content %d, %d bytes)", c.content, c.length)
	}
	words += ": " + r.outcome
	if r.outcome == done {
		switch c.do {
		case read:
			if r.content == 0 {
				return words + ", empty"
			}
			return fmt.Sprintf("%s, content %d", words, r.content)
		case stat:
			if r.open {
				return fmt.Sprintf("%s, %d bytes, open", words, r.length)
			}
			return fmt.Sprintf("%s, %d bytes", words, r.length)
		}
	}
	return words
}
