/**
 * Appends to a journal while every file descriptor is in use and prints the result. The journal's test runs it as a process with a small
 * limit (`ulimit -n`).
 */
import { closeSync, openSync } from "node:fs"
import { openJournal, textsOf, userEntry } from "./journal-files.ts"

const journal = await openJournal(process.argv[2]!)
const append = (text: string) =>
  journal.append([userEntry(text)]).then(
    () => "done",
    (error: Error) => `${error.name}: ${error.message}`,
  )

const first = await append("first")
const taken: number[] = []
try {
  for (;;) taken.push(openSync("/dev/null", "r"))
} catch {
  // no descriptor is left
}
const without = await append("without")
for (const descriptor of taken) closeSync(descriptor)
const second = await append("second")
const readAtTheEnd = await textsOf(journal)
await journal.close()
process.stdout.write(JSON.stringify({ first, without, second, readAtTheEnd }))
