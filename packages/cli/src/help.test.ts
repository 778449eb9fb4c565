import { expect, it } from "vitest"
import { DEMO, DESCRIPTIONS } from "./descriptions.ts"
import { plainStyle as style } from "./display/terminal.ts"
import { commandHelp, overview } from "./help.ts"
import { COMMANDS } from "./strata.ts"

it("lists every command with an example", () => {
  expect(`\n${overview(COMMANDS, { style, columns: 80 })}`).toMatchInlineSnapshot(`
    "
    strata: agent conversations that outgrow the model's window

    Usage
      strata COMMAND [options]

    Commands
      demo              watch an agent outgrow a small window; no key, no network
      chat              talk to an agent that works in this directory
      run               give the agent one task and print its answer; for scripts
      compact           make room in a conversation: summarise it, or clear a part
      undo              undo a compaction or a manual clearing
      usage             report what all conversations on this machine cost
      import            import sessions of other agents, to resume or search them
      inspect           show where a conversation's context and money went
      dashboard         watch running conversations in the browser
      replay            replay a recorded conversation: cost, cache, losses
      compare           compare policies on recorded conversations
      recall            find anything a conversation contained, by handle or text
      agents            list a conversation's agents; follow, stop, message them
      memory            show, search, change and restore what a project remembers
      dream             consolidate a project's memory; watch, stop or review a run
      sync              sync memories between your machines through a git remote
      config            list every setting, its value and where the value comes from
      trust             show what a project's settings would run, and trust them
      unlock            show locks; break those of machines that no longer exist
      archive           copy sessions of other agents before they are deleted
      move              copy conversations and memories to another store
      store             maintain the store: migrations, retention, erasure
      export            export a session for Claude Code, or as Markdown
      install           put Strata into another agent: claude-code, pi or opencode
      uninstall         remove Strata from an agent; restores its files
      wrap              run claude, pi, opencode or any command through the proxy
      proxy             manage the context of any client, by its base URL
      doctor            check client, server, cache and disk for strata wrap
      compact-messages  compact a JSON message array (used by plugins)
      mcp               an MCP server: recall and memories for other agents
      sim               start a local server that speaks the Messages API, for tests

    Options
      --help      show this help
      --no-color  print without colours, like NO_COLOR=1
      --version   print the version

    Examples
      strata demo                                  takes about forty seconds
      strata chat                                  start a new conversation
      strata run "What does this project do?"      print the answer
      strata compact --dry-run                     show the plan and its cost
      strata undo --dry-run                        show what would be restored
      strata usage                                 all conversations on this machine
      strata import session.jsonl                  one session
      strata inspect ~/.claude/projects/*/*.jsonl  one report per file, then a table
                                                   of all
      strata dashboard                             the conversations of this project
      strata replay session.jsonl                  what Strata would have done, and
                                                   what it would have cost
      strata compare --policies strata,clear-3 session.jsonl
                                                   two policies and the references
      strata recall 3f09c1a2b4.0                   one block, with the blocks before
                                                   and after it
      strata agents                                what do the agents do?
      strata memory                                what this project remembers, and
                                                   since when
      strata dream                                 consolidate this project's memory
                                                   now
      strata sync git@github.com:you/memories.git  on each machine, now and then
      strata config                                the settings for this directory
      strata trust                                 look at this directory's
                                                   settings, then decide
      strata unlock                                look at all locks of this
                                                   project, then decide
      strata archive --install claude-code         from now on, no session is lost
      strata move ~/.strata postgres://me@db.example/strata
                                                   from files to a server
      strata store migrate                         once, with a role that may create
                                                   a schema
      strata export 4f0c --to markdown talk.md     a page to read or send
      strata install claude-code                   observe first: Claude Code
                                                   compacts, Strata reports what it
                                                   lost
      strata uninstall claude-code                 restores the settings byte for
                                                   byte
      strata wrap claude                           the first time in a project it
                                                   only observes
      strata proxy                                 then set the base URL that it
                                                   prints
      strata doctor claude                         would strata wrap claude work
                                                   here?
      strata compact-messages < request.json > answer.json
                                                   no model is asked, and nothing is
                                                   written
      claude mcp add strata -- strata mcp          for Claude Code, in this project
      strata sim --port 4010 --log                 then point any client at
                                                   http://127.0.0.1:4010

    "strata COMMAND --help" explains a command.
    Exit codes: 0 done, 1 failed, 2 wrong usage. strata run has more.
    STRATA_DEBUG=1 adds a stack trace to errors.
    New here? Try strata demo. It needs no key and no network.
    "
  `)
})

it("explains a command", () => {
  expect(`\n${commandHelp(DEMO, { style, columns: 80 })}`).toMatchInlineSnapshot(`
    "
    strata demo: watch an agent outgrow a small window; no key, no network

    A simulated model works on a scratch copy of a repository, through the real
    agent loop, the real tools and the official SDK. You see the window fill up.
    Strata offloads large results, clears old ones, takes notes, and compacts when
    the window is full.

    A second conversation follows, a simulated day later. It starts empty, recalls
    what the first one learned, and uses it.

    At the end, one table compares the same work with and without Strata. The demo
    touches nothing outside the copy and removes it afterwards. It copies this
    repository when you run it from a checkout, and the current directory otherwise.

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
      strata demo                              takes about forty seconds
      strata demo --window 40000               a smaller window fills more often
      strata demo --turns 120 --seed 3 --keep  run longer, and keep the journal for
                                               strata inspect
    "
  `)
})

it("lists every command of the program, in its order", () => {
  expect(DESCRIPTIONS.map(({ name }) => name)).toEqual(COMMANDS.map(({ name }) => name))
})

it("fits 80 columns, and every command has options and an example", async () => {
  const own = COMMANDS.filter(({ forwards }) => !forwards)
  const described = await Promise.all(own.map(async (command) => (await command.describe?.()) ?? command))
  const texts = [overview(COMMANDS, { style, columns: 80 })]
  for (const description of described) {
    const text = commandHelp(description, { style, columns: 80 })
    expect(text).toMatch(new RegExp(`\\nExamples\\n.*strata ${description.name}`))
    texts.push(text)
  }
  for (const line of texts.join("\n").split("\n")) expect(line.length, line).toBeLessThanOrEqual(80)
})
