/** Adds memories to a bank, one change each, beside other processes that do the same. */
import { fileStore } from "../../src/journal/file/file-store.ts"
import { openBank } from "../../src/memory/bank.ts"

const [root, name, count] = [process.argv[2]!, process.argv[3]!, Number(process.argv[4])]
const bank = openBank({ files: fileStore({ root }).memories!({ project: "p" }) })
for (let at = 1; at <= count; at++) {
  const own = { name: `${name} ${at}`, body: `${name} wrote ${at}` }
  await bank.change({ by: "agent", why: "test", puts: [own] })
}
