// compose-check FILE ENV_FILE [PROFILE...]: load a compose file as `docker compose` does, by its own parser, with its schema and its
// checks of consistency, and print the project as JSON. Nothing but the file of variables is known: no environment.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	out, err := project(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(out))
}

func project(file, variables string, profiles []string) ([]byte, error) {
	options, err := cli.NewProjectOptions(
		[]string{file}, cli.WithEnvFiles(variables), cli.WithDotEnv, cli.WithProfiles(profiles),
	)
	if err != nil {
		return nil, err
	}
	loaded, err := options.LoadProject(context.Background())
	if err != nil {
		return nil, err
	}
	return loaded.MarshalJSON()
}
