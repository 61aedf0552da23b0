package main

import (
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
	return porcupine.CheckOperationsVerbose(modelFrom(nil), operations(part), limit)
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
