/** For tests, as a process of its own: keeps the sessions below a home directory, and says before each how far it is. */
import { openKept } from "../src/import/kept/open-kept.ts"

const home = process.argv[2]!
try {
  const report = await openKept({ home, env: {} }).keep({
    onProgress: ({ done }) => process.stdout.write(`${done}\n`),
  })
  process.stdout.write(`${JSON.stringify(report)}\n`)
} catch (error) {
  process.stdout.write(`${Object(error).code}\n`)
}
