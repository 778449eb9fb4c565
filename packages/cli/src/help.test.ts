import { expect, it } from "vitest"
import { COMMANDS } from "./commands.ts"
import { DEMO } from "./descriptions.ts"
import { plainStyle as style } from "./display/terminal.ts"
import { commandHelp, overview } from "./help.ts"

it("lists every command with an example", () => {
  expect(`\n${overview(COMMANDS, { style, columns: 80 })}`).toMatchInlineSnapshot(`
    "
    strata: conversations that outgrow the model's window

    Usage
      strata COMMAND [options]

    Commands
      demo     watch an agent work on and on in a small window; no key, no network
      chat     talk with a model that works in this directory
      run      give a task, get the answer: for scripts
      inspect  where the context and the money of a recorded conversation went
      config   every setting that is in force, and where it came from
      sim      a local server that speaks the Messages API, to test against

    Options
      --help      this text
      --no-color  no colours; NO_COLOR does the same
      --version   which version this is

    Examples
      strata demo                                  about forty seconds
      strata chat --continue                       go on where you left off
      strata run "What does this project do?"      the answer alone goes to standard
                                                   output
      strata inspect ~/.claude/projects/*/*.jsonl  each conversation, and a table of
                                                   all
      STRATA_CONTEXT_WINDOW=64000 strata config    where a value comes from is said
                                                   beside it
      strata sim --port 4010 --log                 then point any client at it

    "strata COMMAND --help" says more about a command.
    STRATA_DEBUG=1 shows where an error came from.
    New here? strata demo needs neither a key nor a network.
    "
  `)
})

it("explains a command", () => {
  expect(`\n${commandHelp(DEMO, { style, columns: 80 })}`).toMatchInlineSnapshot(`
    "
    strata demo: watch an agent work on and on in a small window; no key, no network

    A simulated model works on a scratch copy of a repository (this one, where
    strata runs from its checkout, else the current directory) through the real
    loop, the real tools and the official SDK. Large results are put aside, old ones
    cleared, notes kept, and the window is compacted whenever it is full. Nothing
    outside the copy is touched, and it is removed.

    Usage
      strata demo [options]

    Options
      --turns N    turns to work, about (80)
      --seed N     another seed, another course of work (2)
      --window N   the model's window in tokens (60000)
      --task TEXT  what the agent is asked to do
      --fast       as fast as it goes, with no time to look
      --keep       keep the scratch copy and the conversation's journal
      --help       this text
      --no-color   no colours; NO_COLOR does the same

    Examples
      strata demo                              about forty seconds
      strata demo --window 40000               a smaller window: it fills more often
      strata demo --turns 120 --seed 3 --keep  longer, another course, and the
                                               journal stays to be inspected
    "
  `)
})

it("fits 80 columns", () => {
  const texts = [
    overview(COMMANDS, { style, columns: 80 }),
    ...COMMANDS.map((command) => commandHelp(command, { style, columns: 80 })),
  ]
  for (const line of texts.join("\n").split("\n")) expect(line.length, line).toBeLessThanOrEqual(80)
})
