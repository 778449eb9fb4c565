/**
 * A process that indexes a project as soon as its input ends, and says how many passages the index then has.
 *
 *     node index-worker.ts ROOT PROJECT
 */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { projectDirectory } from "../src/journal/file/layout.ts"
import { JournalSearch } from "../src/recall/journal-search.ts"

const [root = "", project = ""] = process.argv.slice(2)
const index = new JournalSearch({ directory: projectDirectory(root, project) })
console.log("ready")
process.stdin.resume().on("end", async () => {
  await index.search({ text: "word0x0", now: new Date() })
  await index.update()
  index.close()
  const db = new DatabaseSync(join(projectDirectory(root, project), "search.sqlite"))
  console.log(`${db.prepare("SELECT count(*) AS count FROM passages").get()!.count} passages`)
})
