/**
 * Appends to a journal on a nearly full disk and prints the results. The journal's test runs it as a process with a limit on file sizes
 * (`ulimit -f`): a write beyond the limit is partly done and then fails, as on a full disk.
 */
import { openJournal, textsOf, userEntry } from "./journal-files.ts"

const [root, tooMuch] = process.argv.slice(2)
const journal = await openJournal(root!)
const tried = async (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: Error) => `${error.name}: ${error.message}`,
  )

const large = "x".repeat(Number(tooMuch))
const first = userEntry("first")
const happened = {
  first: await tried(journal.append([first])),
  large: await tried(journal.append([userEntry("small, but in the same batch"), userEntry(large)])),
  readAfterFailure: await textsOf(journal),
  blob: await tried(journal.writeBlob("large.txt", large)),
  blobAfterFailure: (await journal.readBlob("large.txt")) ?? "none",
  second: await tried(journal.append([userEntry("second")])),
  readAtTheEnd: await textsOf(journal),
  found: (await journal.find(first.uuid)) !== undefined,
}
await journal.close()
process.stdout.write(JSON.stringify(happened))
