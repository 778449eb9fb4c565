/** Opens a journal for writing and prints the result. The journal's tests run it with a limit on file sizes. */
import { openJournal } from "./journal-files.ts"

const outcome = await openJournal(process.argv[2]!).then(
  () => "opened",
  (error: Error) => `${error.name}: ${error.message}`,
)
process.stdout.write(outcome)
