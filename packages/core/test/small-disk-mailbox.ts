/** Sends messages on a nearly full disk and prints the results. The mailbox's test runs it with a limit on file sizes. */
import { join } from "node:path"
import { systemClock } from "../src/base/clock.ts"
import { MailboxDirectory } from "../src/journal/file/mailbox-directory.ts"

const [root = ""] = process.argv.slice(2)
const mailbox = new MailboxDirectory({ directory: join(root, "team"), flush: "never", clock: systemClock })
const send = (length: number) =>
  mailbox.send({ from: "a", to: ["b"], content: { text: "x".repeat(length) } }).then(
    () => "sent",
    (error: Error) => `${error.name}: ${error.message}`,
  )

// concurrent messages share one write
const answers = await Promise.all(Array.from({ length: 20 }, () => send(700)))
const sent = answers.filter((answer) => answer === "sent").length
const refused = answers.find((answer) => answer !== "sent")
const then = await send(1)
const { messages } = await mailbox.read(undefined)
process.stdout.write(JSON.stringify({ sent, refused, then, read: messages.map(({ sequence }) => sequence) }))
await mailbox.close()
