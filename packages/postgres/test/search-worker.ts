/**
 * A process that indexes a project as soon as its input ends, and asks one question.
 *
 *     node search-worker.ts URL TENANT PROJECT
 */
import { journalSearchIn } from "../../core/src/recall/journal-search.ts"
import { postgresStore } from "../src/index.ts"

const [connectionString = "", tenant = "", project = ""] = process.argv.slice(2)
const store = postgresStore({ connectionString, tenant })
const search = journalSearchIn(store, { project })
console.log("ready")
process.stdin.resume().on("end", async () => {
  await search.search({ text: "word0x0", now: new Date(0) })
  await search.update()
  search.close()
  await store.close()
})
