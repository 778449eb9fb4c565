/**
 * A process that holds the write lock of an index until its input ends. `exclusively` also blocks readers, as a process does that rewrites
 * the file.
 *
 * node index-holder.ts FILE exclusively|writing
 */
import { DatabaseSync } from "node:sqlite"

const [file = "", how] = process.argv.slice(2)
const db = new DatabaseSync(file)
if (how === "exclusively") {
  // in the rollback journal mode a writer blocks readers
  db.exec(
    "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (x); INSERT INTO held VALUES (1);",
  )
} else db.exec("BEGIN IMMEDIATE")
console.log("held")
process.stdin.resume().on("end", () => process.exit())
