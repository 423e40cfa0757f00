//go:build tools

package main

// The server of metalbond is built from the same module; without this line its flags package would not be in go.sum.
import _ "github.com/ironcore-dev/metalbond/cmd"
