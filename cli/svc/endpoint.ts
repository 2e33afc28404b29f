import type { Command } from 'commander';
export function addEndpointCommands(_program: Command): void {}
