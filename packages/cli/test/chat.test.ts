/** `strata chat` in a real terminal, over HTTP against the simulator. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { type ChatOptions, startChat, TAKES_KEYS } from "./chatting.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { calls, HALTING, type Workbench, workbench } from "./workbench.ts"

const GREEK =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon"
/** Sends the beginning of an answer and then halts: three events that open the message, one with text. */
const BEGINNING = { faults: [{ nth: 1, fault: HALTING }], haltsAfter: 4 }

sayMissingTerminals()

// in parallel, because each test mostly waits for processes to start and draw
describe.concurrent.each(TERMINALS)("the chat in $name", ({ open }) => {
  const chat = (bench: Workbench, ...args: readonly string[]) =>
    open({ command: [...bench.command, "chat", ...args], cwd: bench.project, env: bench.env })

  const started = (options: ChatOptions) => startChat(open, options)

  test("a question, an answer, a tool, a permission; exit, resume, and the old words are there", async () => {
    await using at = await started({
      turns: [
        calls({ Read: { file_path: "notes.txt" } }, "Let me **look**."),
        calls({ Write: { file_path: "copy.txt", content: "hello again\n" } }),
        "I have made a copy.",
        "Yes, I remember the copy.",
      ],
      files: { "notes.txt": "hello\n" },
    })
    const { bench, terminal: first } = at
    first.type("Copy the notes, please")
    first.press("enter")
    await first.sees("> Copy the notes, please")
    await first.sees("Let me look.")
    await first.sees(/● Read notes\.txt ok/)
    await first.sees("Write needs permission")
    await first.sees("+hello again")
    await first.sees(/a Yes, and don't ask again in this conversation\s+│?\s+Write\(\.\/\*\*\) allows/)
    await first.sees(/e Yes, and don't ask again for exactly this\s+│?\s+Write\(\.\/copy\.txt\) allows/)
    await first.sees(TAKES_KEYS)
    first.type("y")
    await first.sees(/● Write create copy\.txt ok/)
    await first.sees("I have made a copy.")
    await first.sees("3 turns")
    expect(readFileSync(join(bench.project, "copy.txt"), "utf8")).toBe("hello again\n")
    first.press("ctrl-d")
    await first.sees(/strata chat --resume [0-9a-f-]{36}/)

    const id = /--resume ([0-9a-f-]{36})/.exec(first.screen())![1]!
    await using second = chat(bench, "--resume", id)
    await second.sees("> Copy the notes, please")
    await second.sees("I have made a copy.")
    second.type("Do you remember?")
    second.press("enter")
    await second.sees("Yes, I remember the copy.")
  })

  test.runIf(isWhole)("LOOP-4: Esc interrupts a slow stream, and the conversation goes on", async () => {
    await using at = await started({ turns: [GREEK, "Here I am again."], ...BEGINNING })
    const { terminal } = at
    terminal.type("Recite")
    terminal.press("enter")
    await terminal.sees("alpha beta")
    await terminal.sees("Esc interrupts")
    terminal.press("escape")
    await terminal.sees("Interrupted. Everything so far is saved.")
    expect(terminal.screen()).not.toContain("upsilon")
    terminal.type("Still there?")
    terminal.press("enter")
    await terminal.sees("Here I am again.")
  })
})

test("without a terminal or a key it says what to do instead", async () => {
  await using bench = await workbench({ turns: [] })
  expect(await bench.here(["chat"])).toMatchObject({ code: 2, stderr: expect.stringContaining("strata run") })
  const keyless = await bench.here(["chat"], { env: { ANTHROPIC_BASE_URL: "" } })
  expect(keyless).toMatchObject({ code: 3, stderr: expect.stringContaining("ANTHROPIC_API_KEY") })
})
