/**
 * Opens a journal and appends each line that it reads: `node lock-holder.ts <root>`. Prints "opened", or the name and the message of the
 * error, then "acknowledged" or an error for each append. It ends with its input.
 */
import { createInterface } from "node:readline"
import { openJournal, userEntry } from "./journal-files.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)
const problem = (error: Error) => say(`${error.name}: ${error.message}`)
const journal = await openJournal(process.argv[2]!).catch(problem)
if (typeof journal === "object") {
  say("opened")
  for await (const line of createInterface({ input: process.stdin }))
    await journal.append([userEntry(line)]).then(() => say("acknowledged"), problem)
  await journal.close()
}
