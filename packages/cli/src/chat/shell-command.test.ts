import { expect, test } from "vitest"
import { openedItem } from "./folded.ts"
import { outputLines, shellCommandIn, UserShell } from "./shell-command.ts"
import { ChatStore } from "./store.ts"

test("a line that starts with an exclamation mark is a command", () => {
  expect(shellCommandIn(" ! npm test -- -t 'a b' ")).toBe("npm test -- -t 'a b'")
  for (const line of ["!", "! ", "say !hello"]) expect(shellCommandIn(line)).toBeUndefined()
})

test("a long output shows its start and its end, and Ctrl-O all of it", () => {
  const output = Array.from({ length: 50 }, (_, i) => `line ${i}`).join("\n")
  const lines = outputLines(output)
  expect(lines.slice(9, 12)).toEqual(["line 9", "… 30 more lines (Ctrl-O)", "line 40"])
  expect(outputLines("x".repeat(100_000))[0]).toMatch(/^x{399}…$/)
  const item = { kind: "shell", id: "1", command: "seq 50" } as const
  expect(openedItem({ ...item, output })).toEqual({ title: "! seq 50", lines: output.split("\n") })
  expect(openedItem({ ...item, output: "short" })).toBeUndefined()
})

test("a command shows what it prints, and Esc stops it; another one waits in the input line", async () => {
  const store = new ChatStore([])
  const shell = new UserShell({
    store,
    run: ({ command, signal, progress }) => {
      progress("first line")
      const { promise, resolve } = Promise.withResolvers<void>()
      signal.addEventListener("abort", () => resolve())
      return promise.then(() => ({ type: "person_command", command, content: "Interrupted." }))
    },
  })
  expect(shell.stop()).toBe(false)
  const done = shell.start("sleep 60")
  await shell.start("ls")
  expect(store.snapshot().editor.text).toBe("!ls")
  expect(store.snapshot().items[0]).toMatchObject({ kind: "shell", command: "sleep 60", progress: "first line" })
  expect(shell.stop()).toBe(true)
  await done
  expect(store.snapshot().items[0]).toMatchObject({ output: "Interrupted." })
  expect(shell.isRunning).toBe(false)
})
