// What a failed call to Temporal means. Only this file knows the SDK's error classes on the client's side.
import { isGrpcServiceError, ServiceError, WorkflowNotFoundError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { DomainError, type ErrorCode, isErrorCode } from '../domain/errors.ts';
import { domainFailureType } from './failure-type.ts';

/**
 * `absent`: no such workflow, or it closed meanwhile. `pending`: the call's time ran out, the work goes on.
 * `unavailable`: Temporal was not reached. `refused`: the workflow said no, with our error.
 */
export type CallFailure = { kind: 'absent' } | { kind: 'pending' } | { kind: 'unavailable'; cause: unknown } | { kind: 'refused'; error: DomainError };

/** @throws the error itself when it is none of Temporal's */
export function classifyFailure(error: unknown): CallFailure {
  if (error instanceof WorkflowUpdateFailedError) return { kind: 'refused', error: restoreDomainError(error.cause) };
  if (error instanceof WorkflowNotFoundError) return { kind: 'absent' };
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { kind: 'pending' };
  const grpc = error instanceof ServiceError ? error.cause : error;
  if (isGrpcServiceError(grpc)) {
    // 4 deadline exceeded and 1 cancelled: it may have been accepted. 5 not found, 9 failed precondition: closed or closing.
    if (grpc.code === 4 || grpc.code === 1) return { kind: 'pending' };
    if (grpc.code === 5 || grpc.code === 9) return { kind: 'absent' };
    return { kind: 'unavailable', cause: error };
  }
  if (error instanceof ServiceError) return { kind: 'unavailable', cause: error };
  throw error;
}

function restoreDomainError(cause: unknown): DomainError {
  if (cause instanceof ApplicationFailure && cause.type === domainFailureType) {
    const [code, currentStatus] = (cause.details ?? []) as [unknown, unknown];
    if (typeof code === 'string' && isErrorCode(code)) {
      return new DomainError(code satisfies ErrorCode, cause.message, typeof currentStatus === 'string' ? { currentStatus } : {});
    }
  }
  return new DomainError('service_unavailable', 'The operation could not be completed; try again.', { retryAfterSeconds: 1 });
}
