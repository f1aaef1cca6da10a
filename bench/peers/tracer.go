// SPDX-License-Identifier: MIT
// What Go's execution tracer takes for a suspension and its end: two goroutines pass a
// token to and fro on one processor, so that each passage parks one and readies the other.
//
//	tracer BATCHES
//
// Prints two lines: name, ns of a passage. Their difference is the tracer's part.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/trace"
	"sort"
	"strconv"
	"time"
)

const batch = 64

func median(batches int, there, back chan int) float64 {
	took := make([]float64, batches)
	for i := range took {
		begin := time.Now()
		for j := 0; j < batch; j++ {
			there <- j
			<-back
		}
		took[i] = float64(time.Since(begin).Nanoseconds()) / (2 * batch)
	}
	sort.Float64s(took)
	return took[batches/2]
}

func main() {
	runtime.GOMAXPROCS(1)
	batches, err := strconv.Atoi(os.Args[1])
	if err != nil || batches < 1 {
		fmt.Fprintln(os.Stderr, "usage: tracer BATCHES")
		os.Exit(2)
	}
	there, back := make(chan int), make(chan int)
	go func() {
		for token := range there {
			back <- token
		}
	}()
	fmt.Printf("off\t%.3f\n", median(batches, there, back))
	if err := trace.Start(io.Discard); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	on := median(batches, there, back)
	trace.Stop()
	fmt.Printf("on\t%.3f\n", on)
}
