/** `@strata/sync`: the memories and sessions of one person on several machines, through a branch of a git remote. */
export { type Branch, openBranch } from "./git-branch.ts"
export { MEMORIES_BRANCH, type ProjectReport, type SyncedProject, syncMemories } from "./memories.ts"
export type { RemoteTrust } from "./merge/decide.ts"
export type { TakenStep } from "./merge/take-in.ts"
export { allProjects } from "./projects.ts"
export { rememberedTrust, rememberTrust } from "./remembered-remotes.ts"
export { remoteNamed, type SyncRemote } from "./remote.ts"
export { SESSIONS_BRANCH, type SessionReport, type SessionStep, syncSessions } from "./sessions.ts"
