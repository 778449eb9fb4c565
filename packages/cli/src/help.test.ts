import { expect, it } from "vitest"
import { DEMO, GROUPS } from "./descriptions.ts"
import { plainStyle as style } from "./display/terminal.ts"
import { commandHelp, groupHelp, overview } from "./help.ts"
import { COMMANDS } from "./strata.ts"

it("lists every command by group", () => {
  expect(`\n${overview(GROUPS, { style, columns: 80 })}`).toMatchInlineSnapshot(`
    "
    strata: agent conversations that outgrow the model's window

    Usage
      strata COMMAND [options]

    Commands
      work       talk to an agent, and steer its conversation
                 demo, chat, run, agents, compact, undo
      look       see where context and money went, and what could be saved
                 inspect, usage, dashboard, replay, compare
      remember   search conversations, and manage what a project remembers
                 recall, memory, dream, sync
      connect    use Strata with other agents, clients and frameworks
                 wrap, proxy, doctor, install, uninstall, mcp, compact-messages, sim
      keep       copy, move and erase conversations, sessions and memories
                 import, export, archive, move, store, unlock
      configure  see settings, and decide which to trust
                 config, trust

    "strata help COMMAND" explains a command, "strata help GROUP" lists a group.
    Options: --help, --version, --no-color (print without colours, like NO_COLOR=1).
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no API key. STRATA_DEBUG=1 adds a
    stack trace.
    New here? Try strata demo. It needs no key and no network.
    "
  `)
})

it("wraps the groups in a narrow window", () => {
  expect(`\n${overview(GROUPS, { style, columns: 40 })}`).toMatchInlineSnapshot(`
    "
    strata: agent conversations that outgrow
    the model's window

    Usage
      strata COMMAND [options]

    Commands
      work       talk to an agent, and steer
                 its conversation
                 demo, chat, run, agents,
                 compact, undo
      look       see where context and money
                 went, and what could be
                 saved
                 inspect, usage, dashboard,
                 replay, compare
      remember   search conversations, and
                 manage what a project
                 remembers
                 recall, memory, dream, sync
      connect    use Strata with other
                 agents, clients and
                 frameworks
                 wrap, proxy, doctor,
                 install, uninstall, mcp,
                 compact-messages, sim
      keep       copy, move and erase
                 conversations, sessions and
                 memories
                 import, export, archive,
                 move, store, unlock
      configure  see settings, and decide
                 which to trust
                 config, trust

    "strata help COMMAND" explains a
    command, "strata help GROUP" lists a
    group.
    Options: --help, --version, --no-color
    (print without colours, like
    NO_COLOR=1).
    Exit codes: 0 done, 1 failed, 2 wrong
    usage, 3 no API key. STRATA_DEBUG=1 adds
    a stack trace.
    New here? Try strata demo. It needs no
    key and no network.
    "
  `)
})

it("has at most 25 lines in a window of 80 columns", () => {
  expect(overview(GROUPS, { style, columns: 80 }).trimEnd().split("\n").length).toBeLessThanOrEqual(25)
})

it("explains a group: its commands, and an example of each", () => {
  expect(`\n${groupHelp(GROUPS[1]!, { style, columns: 80 })}`).toMatchInlineSnapshot(`
    "
    strata help look: see where context and money went, and what could be saved

    Commands
      inspect    show where a conversation's context and money went
      usage      report what all conversations on this machine cost
      dashboard  watch running conversations in the browser
      replay     replay a recorded conversation: cost, cache, losses
      compare    compare policies on recorded conversations

    Examples
      strata inspect ~/.claude/projects/*/*.jsonl  one report per file, then a table
                                                   of all
      strata usage                                 all conversations on this machine
      strata dashboard                             conversations with Strata, live
      strata replay session.jsonl                  what Strata would have done, and
                                                   what it would have cost
      strata compare --policies strata,clear-3 session.jsonl
                                                   two policies and the references

    "strata help COMMAND" explains a command.
    "
  `)
})

it("puts each command in one group, and no group has the name of a command", () => {
  const commands = COMMANDS.map(({ name }) => name)
  expect(GROUPS.flatMap((group) => group.commands.map(({ name }) => name))).toEqual(commands)
  expect(new Set([...commands, ...GROUPS.map(({ name }) => name)]).size).toBe(commands.length + GROUPS.length)
})

it("explains a command", () => {
  expect(`\n${commandHelp(DEMO, { style, columns: 80 })}`).toMatchInlineSnapshot(`
    "
    strata demo: watch an agent outgrow a small window; no key, no network

    A simulated model works on a scratch copy of a repository, through the real
    agent loop, the real tools and the official SDK. You see the window fill up.
    Strata offloads large results, clears old ones, takes notes, and compacts when
    the window is full. In a larger window, the agent does more with each request.

    A second conversation follows, a simulated day later. It starts empty, recalls
    what the first one learned, and uses it.

    At the end, one table compares the same work with and without Strata, and a few
    commands show what to try next. The demo touches nothing outside the copy and
    removes it afterwards. It copies this repository when you run it from a
    checkout, and the current directory otherwise.

    Usage
      strata demo [options]

    Options
      --turns N    stop after about N turns (default 80)
      --seed N     let the agent take different steps (default 2)
      --window N   size of the model's window in tokens (default 60000)
      --task TEXT  give the agent your own task
      --fast       run at full speed, without pauses
      --keep       keep the scratch copy and the journal
      --help       show this help
      --no-color   print without colours, like NO_COLOR=1

    Examples
      strata demo                              takes about a minute
      strata demo --window 200000 --turns 150  a window of the usual size, and more
                                               work
      strata demo --turns 120 --seed 3 --keep  run longer, and keep the journal for
                                               strata inspect
    "
  `)
})

it("fits 80 columns, and every command has options and an example", async () => {
  const own = COMMANDS.filter(({ forwards }) => !forwards)
  const described = await Promise.all(own.map(async (command) => (await command.describe?.()) ?? command))
  const texts = GROUPS.map((group) => groupHelp(group, { style, columns: 80 }))
  for (const description of described) {
    const text = commandHelp(description, { style, columns: 80 })
    expect(text).toMatch(new RegExp(`\\nExamples\\n.*strata ${description.name}`))
    texts.push(text)
  }
  for (const line of texts.join("\n").split("\n")) expect(line.length, line).toBeLessThanOrEqual(80)
})
