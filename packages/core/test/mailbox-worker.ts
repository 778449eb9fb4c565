/**
 * One process of the mailbox's stress test: `write <root> <name> <messages> <readers> <life>` sends numbered messages to all readers, `read
 * <root> <name> <all messages> 0 <life>` receives them into a journal. After the fraction `life` of all its work, another process kills it
 * at an arbitrary point. When restarted, a writer continues after its last message, a reader after the last cursor in its journal.
 */
import { spawn } from "node:child_process"
import { seededIds, systemClock } from "../src/base/clock.ts"
import type { Entry } from "../src/journal/entries.ts"
import { fileStore } from "../src/journal/file/file-store.ts"
import { teamDirectory } from "../src/journal/file/layout.ts"
import { MailboxDirectory } from "../src/journal/file/mailbox-directory.ts"
import type { Mailbox } from "../src/journal/mailbox.ts"
import { lastReceived } from "./mailbox-journal.ts"

const IN_FLIGHT = 16
const SEGMENT_BYTES = 64 * 1024 // small, so that many begin and end
const TEAM = { project: "p", team: "stress" }

const [task, root = "", name = "", count = "", readers = "", life = ""] = process.argv.slice(2)
const mailbox = new MailboxDirectory({
  directory: teamDirectory(root, TEAM),
  flush: "never",
  clock: systemClock,
  segmentBytes: SEGMENT_BYTES,
})
let killer: Promise<never> | undefined
if (task === "write") await write(mailbox, Number(count))
else await read(mailbox, Number(count))
await killer
await mailbox.close()

/** Lets another process kill this one while it continues. */
function killAt(done: number): void {
  if (done < Number(life) * Number(count) || killer) return
  const { promise } = Promise.withResolvers<never>()
  killer = promise
  spawn("kill", ["-9", String(process.pid)])
}

async function write(to: Mailbox, messages: number): Promise<void> {
  const names = Array.from({ length: Number(readers) }, (_, at) => `reader-${at}`)
  const start = (await to.last(name)) + 1
  for (let first = start; first <= messages; first += IN_FLIGHT) {
    const numbers = Array.from({ length: Math.min(IN_FLIGHT, messages - first + 1) }, (_, at) => first + at)
    const sent = await Promise.all(
      numbers.map((number) => to.send({ from: name, to: names, content: { number, text: "x".repeat(number % 200) } })),
    )
    const wrong = sent.find(({ sequence, content }) => sequence !== content.number)
    if (wrong) throw new Error(`message ${String(wrong.content.number)} of ${name} got the sequence ${wrong.sequence}`)
    killAt(numbers.at(-1)! - start + 1)
  }
}

async function read(from: Mailbox, all: number): Promise<void> {
  const journal = await fileStore({ root, flush: "never" }).open(
    { project: TEAM.project, id: name },
    { access: "write", create: true },
  )
  const before = await lastReceived(journal)
  let received = before.count
  let { cursor } = before
  const membership = await from.join({ name, conversation: name })
  const ids = seededIds(`${name} ${received}`)
  while (received < all) {
    await from.arrival(cursor, new AbortController().signal)
    const reading = await from.read(cursor, name)
    if (reading.problems.length > 0) throw new Error(reading.problems.join(" "))
    const mine = reading.messages.filter(({ to }) => to.includes(name))
    await journal.append(
      mine.map(
        (message): Entry => ({
          type: "attachment",
          uuid: ids.uuid(),
          parentUuid: null,
          timestamp: "2026-01-01T00:00:00.000Z",
          attachment: {
            type: "queued_agent_message",
            from: message.from,
            content: String(message.content.text),
            id: `${message.from}#${message.sequence}`,
            cursor: message.cursor,
          },
        }),
      ),
    )
    received += mine.length
    killAt(received - before.count)
    cursor = mine.at(-1)?.cursor ?? cursor
  }
  await journal.close()
  await membership.leave(cursor)
}
