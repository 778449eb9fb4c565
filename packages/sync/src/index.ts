/** `@strata/sync`: syncs the memories and sessions of one user between machines through a branch of a git remote. */
export { type Branch, openBranch } from "./git-branch.ts"
export { MEMORIES_BRANCH, type ProjectReport, type SyncedProject, syncMemories } from "./memories.ts"
export type { MemoryStep } from "./merge/apply-remote.ts"
export type { RemoteTrust } from "./merge/decide.ts"
export { allProjects } from "./projects.ts"
export { resolveRemote, type SyncRemote } from "./remote.ts"
export { rememberedTrust, rememberTrust } from "./remote-trust.ts"
export { SESSIONS_BRANCH, type SessionReport, type SessionStep, syncSessions } from "./sessions.ts"
