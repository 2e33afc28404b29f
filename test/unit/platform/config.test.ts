// Holds readConfig to the list of variables in the architecture: defaults, forms, and one error that names them all.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, masterKeyFile, readConfig } from '../../../platform/config.ts';

const key = 'k'.repeat(32);
const emptyDir = (): string => mkdtempSync(join(tmpdir(), 'config-'));

function problemsOf(env: NodeJS.ProcessEnv, role: Parameters<typeof readConfig>[1]): readonly string[] {
  try {
    readConfig(env, role);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('readConfig', () => {
  it('needs nothing for npm start, which takes the development profile', () => {
    const config = readConfig({ DATA_DIR: emptyDir() }, 'start');
    expect(config).toMatchObject({ port: 3000, publicUrl: 'http://localhost:3000', databaseUrl: null, webhookAllowLoopback: true, masterKeys: [], publicPostsPerMinute: 60, logLevel: 'info' });
    expect(config.temporal).toMatchObject({ address: null, namespace: 'default', port: 7233, uiPort: 8233, tls: null });
    expect(config.simulator.live).toBe(true);
  });

  it('turns development switches off for production and for the roles apart', () => {
    const given = { DATA_DIR: emptyDir(), DATABASE_URL: 'postgres://u:p@db/x', TEMPORAL_ADDRESS: 'temporal:7233', MASTER_KEY: key };
    for (const config of [readConfig(given, 'api'), readConfig({ ...given, NODE_ENV: 'production' }, 'start')]) {
      expect(config.simulator.live).toBe(false);
      expect(config.webhookAllowLoopback).toBe(false);
    }
  });

  it('names every wrong variable in one error, and repeats no secret', () => {
    const problems = problemsOf(
      {
        DATA_DIR: emptyDir(), NODE_ENV: 'production', PORT: 'http', PUBLIC_URL: 'shop.example', DATABASE_URL: 'mysql://root:hunter2@db/x', TEMPORAL_ADDRESS: 'temporal', TEMPORAL_PORT: '70000',
        TEMPORAL_UI_PORT: '-1', SIMULATOR_PORT: '1.5', WEBHOOK_ALLOW_LOOPBACK: 'maybe', SIMULATOR_LIVE: 'y', PUBLIC_POSTS_PER_MINUTE: '0', SMTP_URL: 'mail', TEMPORAL_UI_URL: 'ftp://x',
        TRUSTED_PROXIES: '10.0.0.0/8,nonsense', MASTER_KEY: 'short-secret', LOG_LEVEL: 'loud', METRICS_PORT: 'x', TEMPORAL_TLS_CLIENT_CERT_PATH: '/does/not/exist',
      },
      'api',
    );
    const names = problems.map((line) => line.split(' ')[0]).sort();
    expect(names).toEqual(
      ['PORT', 'PUBLIC_URL', 'DATABASE_URL', 'TEMPORAL_ADDRESS', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'SIMULATOR_PORT', 'WEBHOOK_ALLOW_LOOPBACK', 'SIMULATOR_LIVE', 'PUBLIC_POSTS_PER_MINUTE', 'SMTP_URL', 'TEMPORAL_UI_URL', 'TRUSTED_PROXIES', 'MASTER_KEY', 'LOG_LEVEL', 'METRICS_PORT', 'TEMPORAL_TLS_CLIENT_CERT_PATH'].sort(),
    );
    expect(problems.join('\n')).not.toMatch(/hunter2|short-secret/);
  });

  it('requires a master key in production, and database and Temporal for the roles apart', () => {
    expect(problemsOf({ NODE_ENV: 'production', DATA_DIR: emptyDir() }, 'worker').map((line) => line.split(' ')[0])).toEqual(['MASTER_KEY', 'DATABASE_URL', 'TEMPORAL_ADDRESS']);
  });

  it('takes the key npm start has kept, outside production', () => {
    const dir = emptyDir();
    writeFileSync(masterKeyFile(dir), `${key}\n`);
    expect(readConfig({ DATA_DIR: dir }, 'tool').masterKeys).toEqual([key]);
    expect(problemsOf({ DATA_DIR: dir, NODE_ENV: 'production' }, 'start')).toHaveLength(1);
  });

  it('reads lists of keys and proxies, and Temporal Cloud by its key alone', () => {
    const other = 'o'.repeat(40);
    const config = readConfig({ DATA_DIR: emptyDir(), MASTER_KEY: `${key}, ${other}`, TRUSTED_PROXIES: '10.0.0.0/8, ::1', TEMPORAL_API_KEY: 'k', PORT: '' }, 'tool');
    expect(config.masterKeys).toEqual([key, other]);
    expect(config.trustedProxies).toEqual(['10.0.0.0/8', '::1']);
    expect(config.temporal.tls).toBe(true);
    expect(config.port).toBe(3000);
    expect(Object.isFrozen(config.temporal)).toBe(true);
  });
});

describe('.env.example', () => {
  it('is a valid configuration as it stands', () => {
    const lines = readFileSync('.env.example', 'utf8').split('\n').filter((line) => /^[A-Z]/.test(line));
    const env = Object.fromEntries(lines.map((line) => line.split('=', 2) as [string, string]));
    expect(problemsOf({ ...env, DATA_DIR: emptyDir() }, 'start')).toEqual([]);
  });
});
