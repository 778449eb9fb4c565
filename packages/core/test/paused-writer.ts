/**
 * Writes to a conversation, and stops itself right after a check of the lock: `node paused-writer.ts <root> <place>`. With the place
 * `elsewhere` it looks like a process on another machine with the same disk.
 *
 * It prints "opened" and its fencing number. Each line that it reads is a write: `append TEXT`, `large TEXT`, `checkpoint`, `blob`,
 * `notes`, `in-flight`, `send TEXT` or `close`, and it prints "done" or the name and the message of the error. `stop STEP` makes it stop at
 * the next check of that step, after it has printed "at STEP".
 */
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import os from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { systemClock } from "../src/base/clock.ts"
import { ADDRESS, userEntry } from "./journal-files.ts"

const [root, place] = process.argv.slice(2) as [string, "here" | "elsewhere"]
if (place === "elsewhere") {
  const read = fs.readFileSync
  const isBootId = (path: unknown) => path === "/proc/sys/kernel/random/boot_id"
  fs.readFileSync = ((...args: Parameters<typeof read>) =>
    isBootId(args[0]) ? "another boot" : read(...args)) as typeof read
  os.hostname = () => "another-machine"
  syncBuiltinESMExports()
}
const { openFileJournal } = await import("../src/journal/file/open-file-journal.ts")
const { MailboxDirectory } = await import("../src/journal/file/mailbox-directory.ts")

const say = (line: string) => fs.writeSync(1, `${line}\n`)
let stopAt: string | undefined

function atStep(step: string): void {
  if (step !== stopAt) return
  stopAt = undefined
  say(`at ${step}`)
  process.kill(process.pid, "SIGSTOP")
}

const journal = await openFileJournal({
  ...{ root, address: ADDRESS, access: "write", flush: "turn", now: new Date().toISOString() },
  atStep,
})
const team = join(root, "team")
const mailbox = new MailboxDirectory({
  directory: team,
  flush: "turn",
  clock: systemClock,
  atStep: () => atStep("send"),
})
const usage = { input_tokens: 1, output_tokens: 1 }

const writes: Record<string, (text: string) => Promise<unknown>> = {
  append: (text) => journal.append([userEntry(text)]),
  large: (text) => journal.append([userEntry(text + "x".repeat(300_000))]),
  checkpoint: () => journal.writeCheckpoint({ of: "the paused one" }),
  blob: () => journal.writeBlob("blob.txt", "of the paused one"),
  notes: () => journal.writeNotes("of the paused one"),
  "in-flight": async () => journal.inFlight.sent({ id: "paused", purpose: "main", model: "m", usage }),
  send: (text) => mailbox.send({ from: "paused", to: ["b"], content: { text } }),
  close: () => Promise.all([journal.close(), mailbox.close()]),
}

say(`opened ${journal.fence}`)
for await (const line of createInterface({ input: process.stdin })) {
  const [, command = "", text = ""] = /^(\S+) ?(.*)$/.exec(line) ?? []
  if (command === "stop") stopAt = text
  else
    await writes[command]!(text).then(
      () => say("done"),
      (error: Error) => say(`${error.name}: ${error.message}`),
    )
}
