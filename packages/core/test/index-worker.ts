/**
 * A process that indexes a project as soon as its input ends. It skips work that another process is writing at that time.
 *
 * node index-worker.ts ROOT PROJECT
 */
import { fileStore } from "../src/journal/file/file-store.ts"
import { JournalSearch } from "../src/recall/journal-search.ts"

const [root = "", project = ""] = process.argv.slice(2)
const index = new JournalSearch({ feed: fileStore({ root }).feed({ project }) })
console.log("ready")
process.stdin.resume().on("end", async () => {
  await index.search({ text: "word0x0", now: new Date() })
  await index.update()
  index.close()
})
