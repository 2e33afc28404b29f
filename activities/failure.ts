// The one place where an error of the domain becomes a failure that Temporal does not retry.
import { ApplicationFailure } from '@temporalio/common';
import { DomainError } from '../domain/errors.ts';
import { domainFailureType } from '../temporal/failure-type.ts';

/** The activities with every DomainError turned into a failure Temporal does not retry. */
export function asActivities<Activities extends object>(activities: Activities): Activities {
  const wrapped: Record<string, unknown> = {};
  for (const [name, activity] of Object.entries(activities)) {
    wrapped[name] = async (...args: unknown[]) => {
      try {
        return await (activity as (...args: unknown[]) => Promise<unknown>)(...args);
      } catch (error) {
        if (error instanceof DomainError) {
          throw ApplicationFailure.nonRetryable(error.message, domainFailureType, error.code, error.detail.currentStatus ?? null);
        }
        throw error;
      }
    };
  }
  return wrapped as Activities;
}
