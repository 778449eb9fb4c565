/**
 * Takes permits and holds them until it is killed: `node permit-taker.ts <root> <project> <most> <count>`. Prints the state of each
 * attempt, and then waits for its input to end.
 */
import { fileStore } from "../src/journal/file/file-store.ts"

const [root = "", project = "", max = "", count = ""] = process.argv.slice(2)
const store = fileStore({ root })
for (let at = 0; at < Number(count); at++) {
  const wanted = { id: `${process.pid}-${at}`, max: Number(max) }
  const attempt = await store.permit({ project, name: "agents" }).take(wanted)
  process.stdout.write(`${attempt.state}\n`)
}
process.stdin.resume()
