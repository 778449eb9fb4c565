/** A separate process for tests: archives the sessions of a home directory and prints its progress before each. */
import { openSessionArchive } from "../src/import/archive/open-archive.ts"

const home = process.argv[2]!
try {
  const report = await openSessionArchive({ home, env: {} }).update({
    onProgress: ({ done }) => process.stdout.write(`${done}\n`),
  })
  process.stdout.write(`${JSON.stringify(report)}\n`)
} catch (error) {
  process.stdout.write(`${Object(error).code}\n`)
}
