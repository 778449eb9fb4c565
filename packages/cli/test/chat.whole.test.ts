/** More tests of `strata chat` in a real terminal: pastes, dialogs, commands of the user, and metrics of the layers. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type ChatOptions, RESTS, startChat, TAKES_KEYS } from "./chatting.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { calls, HALTING, workbench } from "./workbench.ts"

/** Sends the beginning of an answer and then halts: three events that open the message, one with text. */
const BEGINNING = { faults: [{ nth: 1, fault: HALTING }], haltsAfter: 4 }
const GREEK =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon"

sayMissingTerminals()

// in parallel, because each test mostly waits for processes to start and draw
describe.concurrent.each(TERMINALS)("the chat in $name", ({ open }) => {
  const started = (options: ChatOptions) => startChat(open, options)

  test("LOOP-7 a paste of 900,000 characters is one line at once, is sent whole, and one that is too long is kept in a file", async () => {
    await using at = await started({ turns: ["I have read it."] })
    const { bench, terminal } = at
    const text = "the log goes on and on\n".repeat(39_000)
    terminal.paste("x".repeat(1_100_000))
    await terminal.sees(/takes at most\s+1,000,000/)
    terminal.paste(text)
    await terminal.sees(/\[Pasted text #2 \+39,001 lines\]/)
    terminal.press("enter")
    await terminal.sees("I have read it.")
    const journals = readdirSync(bench.home, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".jsonl"),
    )
    const journal = journals.map((name) => readFileSync(join(bench.home, name), "utf8")).join("")
    expect(journal.includes(JSON.stringify(text.trim()).slice(1, -1))).toBe(true)
  })

  test("a denied permission goes to the model with the reason", async () => {
    await using at = await started({
      turns: [
        calls({ Bash: { command: "git push --force" } }),
        ({ request }) => `I was told: ${JSON.stringify(request.messages.at(-1)!.content[0]!.content)}`,
      ],
    })
    const { terminal } = at
    terminal.type("Push")
    terminal.press("enter")
    await terminal.sees("Bash(git push:*)")
    await terminal.sees(TAKES_KEYS)
    terminal.type("n")
    await terminal.sees("Enter sends, Esc goes back")
    terminal.type("not on a Friday")
    await terminal.sees("> not on a Friday")
    terminal.press("enter")
    await terminal.sees("the user said no: not on a Friday")
    await terminal.sees("I was told:")
  })

  test("PERM-5: a command of 3,000 characters in one line can be read to its end before it is allowed", async () => {
    const command = `touch ${Array.from({ length: 300 }, (_, i) => `file-${i}`).join(" ")} && touch the-end`
    await using at = await started({ turns: [calls({ Bash: { command } }), "Touched."] })
    const { bench, terminal } = at
    terminal.type("Touch them")
    terminal.press("enter")
    await terminal.sees("Run this command?")
    await terminal.sees("touch file-0 file-1")
    await terminal.sees(/↓ \d+ lines below: PgDn or Space shows them/)
    await terminal.sees(TAKES_KEYS)
    expect(terminal.screen()).not.toContain("the-end")
    for (const last of ["file-190", "the-end"]) {
      terminal.press("page-down")
      await terminal.sees(last)
    }
    terminal.type("y")
    await terminal.sees("Touched.")
    expect(existsSync(join(bench.project, "the-end"))).toBe(true)
  })

  test("questions of the agent, todos, a plan that is approved", async () => {
    await using at = await started({
      turns: [
        calls({ TodoWrite: { todos: [{ content: "Choose a colour", status: "in_progress" }] } }),
        calls({ AskUser: { question: "Which colour?", options: ["Red", "Green"] } }),
        calls({ EnterPlanMode: {} }),
        calls({ ExitPlanMode: { plan: "1. Buy **paint**" } }),
        "It will be painted.",
      ],
    })
    const { terminal } = at
    terminal.type("Paint it")
    terminal.press("enter")
    await terminal.sees("Which colour?")
    await terminal.sees("2 Green")
    await terminal.sees(TAKES_KEYS)
    terminal.type("2")
    await terminal.sees("Go ahead with this plan?")
    await terminal.sees("1. Buy paint")
    await terminal.sees("· plan ·")
    await terminal.sees(TAKES_KEYS)
    terminal.type("y")
    await terminal.sees("It will be painted.")
    await terminal.sees("· accept-edits ·")
    terminal.type("/todos")
    terminal.press("enter")
    await terminal.sees("[>] Choose a colour")
  })

  test("a message that is sent while the person's command runs takes its output along", async () => {
    const saw: boolean[] = []
    await using at = await started({
      turns: [
        ({ request }) => {
          saw.push(JSON.stringify(request.messages).includes("came-late"))
          return "Read it."
        },
      ],
    })
    const { terminal, bench } = at
    terminal.type("!until [ -e go ]; do sleep 0.02; done; echo came-$(echo late)")
    terminal.press("enter")
    await terminal.sees("(Esc stops it)")
    terminal.type("What does it say?")
    terminal.press("enter")
    await terminal.sees("Your message will be sent when your command has ended.")
    expect(saw).toEqual([])
    writeFileSync(join(bench.project, "go"), "")
    await terminal.sees("Read it.")
    expect(saw).toEqual([true])
  })

  test("JRN-5: back to an earlier message, a new conversation, and the old one again", async () => {
    await using at = await started({ turns: ["One.", "Two.", "Two again."] })
    const { terminal } = at
    for (const [words, answer] of [
      ["Say one", "One."],
      ["Say two", "Two."],
    ] as const) {
      terminal.type(words)
      terminal.press("enter")
      await terminal.sees(answer)
      await terminal.sees(RESTS)
    }
    terminal.type("/rewind")
    terminal.press("enter")
    await terminal.sees(/> 1 Say two \((?:just now|\d+ \w+ ago)\)/)
    await terminal.sees(TAKES_KEYS)
    terminal.press("enter")
    await terminal.sees("The journal keeps everything after it.")
    await terminal.sees(/────\s+> Say two/)
    terminal.press("enter")
    await terminal.sees("Two again.")
    await terminal.sees(RESTS)
    terminal.type("/clear")
    terminal.press("enter")
    await terminal.sees("0 turns")
    await terminal.sees(/type a task, or \/help\s+claude/)
    terminal.type("/resume")
    terminal.press("enter")
    await terminal.sees(/> 1 Say one \((?:just now|\d+ \w+ ago), claude-opus-5-5\)/)
    await terminal.sees(TAKES_KEYS)
    terminal.press("enter")
    await terminal.sees(/── Say one \([0-9a-f]{8}\) ──/)
    await terminal.sees("3 turns")
  })

  test("LOOP-7: what is typed while the agent works is queued, shown, and answered", async () => {
    await using at = await started({ turns: [GREEK, "And this answers the second."], ...BEGINNING })
    const { bench, terminal } = at
    terminal.type("First")
    terminal.press("enter")
    await terminal.sees("alpha")
    terminal.type("Second")
    terminal.press("enter")
    await terminal.sees("queued: Second")
    await terminal.sees("1 queued")
    bench.goOn()
    await terminal.sees("> Second")
    await terminal.sees("And this answers the second.")
  })

  test("a menu runs a command, @ attaches a file, ! runs in the shell, Ctrl-R finds an earlier input", async () => {
    await using at = await started({
      turns: [
        ({ request }) => {
          const sent = JSON.stringify(request.messages)
          const saw = ["1\\tthe note", "The user ran this command", "from-the-shell"].map((part) => sent.includes(part))
          return `Saw: ${saw.join(" ")}.`
        },
      ],
      files: { "deep/my notes.txt": "the note\n" },
    })
    const { terminal } = at
    terminal.type("/to")
    await terminal.sees(/> \/todos\s+show the agent's to-do list/)
    terminal.press("enter")
    await terminal.sees("The agent has no todos.")
    terminal.type("!echo from-the-$(echo shell)")
    terminal.press("enter")
    await terminal.sees(/! echo from-the-\$\(echo shell\)\s+from-the-shell/)
    await terminal.sees(RESTS)
    terminal.type("Read @notes")
    await terminal.sees("> deep/my notes.txt")
    terminal.press("enter")
    await terminal.sees('> Read @"deep/my notes.txt"')
    terminal.press("enter")
    await terminal.sees("Attached: file deep/my notes.txt")
    await terminal.sees("Saw: true true true.")
    await terminal.sees(RESTS)
    terminal.type("\u0012")
    await terminal.sees("search earlier inputs:")
    terminal.type("echo")
    await terminal.sees(/> !echo from-the/)
    terminal.press("escape")
    await terminal.sees(RESTS)
  })

  test("many lines pasted stay one input, and come back with the up key", async () => {
    await using at = await started({
      turns: [({ request }) => `${request.messages[0]!.content[0]!.text!.split("\n").length} lines`],
    })
    const { terminal } = at
    terminal.paste("one\ntwo\nthree")
    await terminal.sees("three")
    terminal.press("alt-enter")
    terminal.type("four")
    await terminal.sees("four")
    terminal.press("enter")
    await terminal.sees("4 lines")
    terminal.press("up")
    await terminal.sees(/────\s+> one/)
  })

  test("commands, a misspelt one, Ctrl-C twice", async () => {
    await using at = await started({ turns: ["Hello."] })
    const { terminal } = at
    terminal.type("Hi")
    terminal.press("enter")
    await terminal.sees("Hello.")
    terminal.type("/context")
    terminal.press("enter")
    await terminal.sees("your messages")
    await terminal.sees("Next threshold in")
    terminal.type("/cots")
    terminal.press("enter")
    await terminal.sees("Did you mean /cost?")
    terminal.press("ctrl-c")
    await terminal.sees("Press Ctrl-C again to exit")
    terminal.press("ctrl-c")
    await terminal.sees("To continue: strata chat --resume")
  })
})

/** One terminal is enough for testing the width. */
describe.concurrent.each(TERMINALS.slice(0, 1))("the chat in $name", ({ open }) => {
  test.each([80, 120])("CACHE-5 shows what the layers keep out and save, in %i columns", async (columns) => {
    await using bench = await workbench({
      turns: [calls({ Bash: { command: "cat 数据.txt" } }), calls({ Bash: { command: "ls" } }), "看完了。"],
      files: { "数据.txt": "一行文字，用来填满上下文。\n".repeat(1_000) },
    })
    const command = [...bench.command, "chat", "--mode", "bypass"]
    const env = { ...bench.env, STRATA_MESSAGE_RESULTS_LIMIT: "5000" }
    await using terminal = open({ command, cwd: bench.project, env, columns })
    await terminal.sees("type a task, or /help")
    terminal.type("看一下数据")
    terminal.press("enter")
    await terminal.sees("看完了。")
    terminal.type("/context")
    terminal.press("enter")
    await terminal.sees(/Kept out of the window: [\d.]+K offloaded/)
    terminal.type("/cost")
    terminal.press("enter")
    await terminal.sees(/Layers: \$\d+\.\d+ saved, [\d.]+K tokens not sent/)
    await terminal.sees(/results offloaded +1 /)
    await terminal.sees("Compared with leaving the results")
  })
})
