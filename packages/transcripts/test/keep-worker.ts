/** For tests, as a process of its own: keeps the sessions below a home directory, and says before each how far it is. */
import { openSessionArchive } from "../src/import/kept/open-kept.ts"

const home = process.argv[2]!
try {
  const report = await openSessionArchive({ home, env: {} }).keep({
    onProgress: ({ done }) => process.stdout.write(`${done}\n`),
  })
  process.stdout.write(`${JSON.stringify(report)}\n`)
} catch (error) {
  process.stdout.write(`${Object(error).code}\n`)
}
