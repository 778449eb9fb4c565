/** A separate process for tests: appends numbered lines to one session, a batch at a time. Arguments: directory, name, batches. */
import { sessionStore } from "../src/claude-agent-sdk.ts"

const [dir, name, batches] = process.argv.slice(2)
const store = sessionStore({ dir: dir! })
for (let batch = 0; batch < Number(batches); batch++) {
  const lines = [0, 1].map((at) => ({ type: "user", uuid: `${name}-${batch}-${at}`, by: name, number: 2 * batch + at }))
  await store.append({ projectKey: "shop", sessionId: "shared" }, lines)
}
